#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the whole programs of the pages for beginners compile and run,
# near and far; the variables, options and pages that they name are there.
# Timeout: 90
set -u
. "$(dirname "$0")/../neg/neg.inc"
export SHMEM_DEVICE=software OMPI_ALLOW_RUN_AS_ROOT=1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=sh
pages="$SRC/docs/start/openshmem.md $SRC/docs/start/mpi.md $SRC/docs/start/gpu.md
    $SRC/docs/guide/diagnose.md $SRC/docs/guide/concepts.md $SRC/docs/guide/tuning.md
    $SRC/docs/guide/measure.md $SRC/docs/guide/compatibility.md"

# Each program, of those that have a main(), as PAGE.c.
for page in $pages; do
    name=$(basename "$page" .md)
    awk -v out="$name" '/^```c$/ { text = ""; on = 1; next }
        /^```/ && on { on = 0; if (text ~ /int main/) print text >(out ".c") }
        on { text = text $0 "\n" }' "$page"
done
[ -s gpu.c ] && [ -s mpi.c ] || fail "programs: $(ls ./*.c)"

"$bin/oshcc" -Wall -Wextra -Werror gpu.c -o gpu || exit 1
for option in '' '--ppn 1'; do
    # shellcheck disable=SC2086
    try 3 $option ./gpu
    [ $status -eq 0 ] && [ "$(sort "$out")" = 'PE 0 of 3 is done
PE 1 of 3 is done
PE 2 of 3 is done' ] || fail "gpu $option: $status: $(cat "$out" "$err")"
done
if command -v mpicc.openmpi >/dev/null && ! sanitized; then
    eval "mpicc.openmpi mpi.c -o mpi $("$bin/oshcc" --showme:compile)" \
        "$("$bin/oshcc" --showme:link)" 2>cc.log || { cat cc.log; exit 1; }
    timeout 60 mpirun.openmpi --oversubscribe --bind-to none -n 2 ./mpi \
        >"$out" 2>"$err" || fail "mpi: $(cat "$err")"
    [ "$(sort "$out")" = 'rank 0 of 2 is PE 0 of 2
rank 1 of 2 is PE 1 of 2' ] || fail "mpi: $(cat "$out")"
fi

# Variables: of the middle column where a table names those of others, too.
{
    sed 's/^|[^|]*|\([^|]*\)|.*/\1/; /^---/d' "$SRC/docs/start/openshmem.md"
    cat "$SRC/docs/start/gpu.md" "$SRC/docs/guide/diagnose.md" "$SRC/docs/guide/tuning.md"
} | grep -oE 'SHMEM_[A-Z_]*[A-Z]' | grep -vE '_(SPACE_DEVICE|SPACE_GPU)$' |
    sort -u >named
"$bin/shmem_info" | grep -oE '^SHMEM_[A-Z_]+' | sort >known
[ "$(wc -l <named)" -gt 15 ] || fail "few variables: $(cat named)"
missing=$(comm -23 named known)
[ -z "$missing" ] || fail "unknown variables: $missing"

# Calls, and other names of the headers.
# shellcheck disable=SC2086
grep -ohE '(^|[^a-zA-Z_])(p?shmemx?|SHMEMX?)_[a-zA-Z0-9_]+' $pages "$SRC/README.md" |
    sed 's/^[^a-zA-Z]//' | grep -vE '_X$|^shmemx_dev_|_dev_$|_$' | sort -u >named
{
    awk '{ print $1 }' "$SRC/docs/openshmem-1.6.txt" "$SRC/docs/extensions.txt"
    ls "$SRC/man" | sed 's/\..*//'
    grep -ohE '(shmem|SHMEM)[xX]?_[a-zA-Z0-9_]+' "$SRC"/include/*.h
    "$bin/shmem_info" | grep -oE '^SHMEM_[A-Z0-9_]+'
    sed 's/^|\([^|]*\)|.*/\1/' "$SRC/docs/start/openshmem.md" |
        grep -oE 'SHMEM_[A-Z_]+'            # of other libraries
} | sort -u >known
missing=$(comm -23 named known)
[ -z "$missing" ] || fail "unknown names: $missing"

# Options of our programs in the code of the pages.
"$bin/oshrun" --help >help
"$bin/shmem_info" --help >>help
"$bin/shmem_top" --help >>help
timeout 60 "$bin/oshrun" "$BUILD/obj/tests/osu/osu_oshm_put" -h >>help
# shellcheck disable=SC2086
grep -hE '^(SHMEM_[A-Z]*=[^ ]* )?(oshrun|shmem_info|shmem_top)( |$)' $pages |
    grep -oE ' --?[a-z][a-z-]*' | sort -u >options
[ "$(wc -l <options)" -gt 3 ] || fail "few options: $(cat options)"
while read -r option; do
    grep -q -e "$option" help || fail "no option $option"
done <options

# Links.
for page in $pages "$SRC/README.md"; do
    grep -oE '\]\([^)#:]*' "$page" | cut -c3- | while read -r link; do
        [ -z "$link" ] || [ -e "$(dirname "$page")/$link" ] ||
            echo "$page: $link"
    done
done >links
[ ! -s links ] || fail "links: $(cat links)"
[ "$(wc -l <"$SRC/README.md")" -le 150 ] || fail 'README.md has over 150 lines'
finish 'the pages for beginners'
