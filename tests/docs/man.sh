#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the manual covers every function, variable and error code of the
# sources and every page that is referred to; its examples compile.
set -u
: "${SRC:?the source directory}" "${BUILD:?the build directory}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/man.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$SRC" || exit 1
set -- man/*.[1-9] "$BUILD"/obj/man/*.[1-9]

# To a file: the end of a pipe is a process of its own.
fail()
{
    echo "FAIL: $*" | tee -a "$tmp/failed" >&2
}

# none WHAT: standard input is empty.
none()
{
    found=$(head -n 20 | tr '\n' ' ')
    [ -z "$found" ] || fail "$1: $found"
}

# lacking LIST: what standard input has and LIST has not.
lacking()
{
    sort -u | comm -23 - "$1"
}

# Names of pages as "shmem_int_put.3", a page's own and its further ones.
sh scripts/man-links "$@" >"$tmp/links" 2>"$tmp/err" ||
    fail "man-links: $(cat "$tmp/err")"
for page; do
    echo "${page##*/}"
done >"$tmp/all"
sed 's|^[^/]*/||; s| .*||' "$tmp/links" >>"$tmp/all"
sort "$tmp/all" | uniq -d | none 'names of two pages'
for page; do
    awk '/^\.Sh/ { on = $2 == "SYNOPSIS" }
        on && /^\.Fn [A-Za-z_0-9]+( [,.;])?$/ { print FILENAME ": " $2 }' "$page"
done | none 'in a SYNOPSIS .Fn without arguments reads "();"'
sort -u "$tmp/all" >"$tmp/names"

# --- Functions, and names that are none ---

{
    cat docs/openshmem-1.6.txt
    [ ! -e docs/extensions.txt ] || sed 's/[ #].*//; /^$/d' docs/extensions.txt
    sed -n 's/^#define \(shmemx*_[a-z_]*\)(.*/\1/p' include/shmem_generic.h \
        include/shmemx_generic.h include/shmemx_st_generic.h
} | sed 's/$/.3/' | sort -u >"$tmp/calls"
lacking "$tmp/names" <"$tmp/calls" | none 'calls that no page of man/ names in its NAME section'
{
    cat "$tmp/calls"
    { sh scripts/kernel-calls; sh scripts/kernel-calls -g; } | sed 's/$/.3/'
    ls man
} | sort -u >"$tmp/known"
grep '\.3$' "$tmp/names" | lacking "$tmp/known" |
    none 'pages name calls that do not exist'

# --- Variables and codes ---

sed -n 's/^ENV([a-z]*, *\([A-Z_]*\),.*/SHMEM_\1/p' src/base/env_defs.h |
    sort -u >"$tmp/variables"
sed -n 's/^ERR(\([A-Z]*\),.*/\1/p' src/base/err_defs.h | sort -u >"$tmp/codes"
[ -s "$tmp/variables" ] && [ -s "$tmp/codes" ] || fail 'the tables are empty'
sed -n 's/^\.It Ev \(SHMEM_[A-Z_]*\) .*/\1/p' "$BUILD/obj/man/shmem_env.7" |
    sort -u >"$tmp/listed"
lacking "$tmp/listed" <"$tmp/variables" | none 'not in shmem_env(7)'
sed -n "s/^\.It S-E-\([A-Z]*\) ,.*/\1/p" "$BUILD/obj/man/shmem_errors.7" |
    sort -u >"$tmp/listed"
lacking "$tmp/listed" <"$tmp/codes" | none 'not in shmem_errors(7)'
while read -r code; do
    grep -rqw -e "ERR_$code" -e "S-E-$code" src tools || echo "$code"
done <"$tmp/codes" | none 'codes that nothing prints'
sed -n 's/^\.It //p' man/shmem_info.1 | sed 's/ , /\n/g' |
    sort -u >"$tmp/listed"
cat tools/shmem_info/*.c | tr '\n' ' ' |
    grep -oE '(say|failed)\(([A-Z]+, *)?"[^"]*"' | cut -d '"' -f 2 |
    grep -vx cxi | lacking "$tmp/listed" | none 'checks not in shmem_info(1)'
cat man/*.[37] | grep -E '^\.(It )?Ev ' | grep -oE 'SHMEM_[A-Z_]*[A-Z]' |
    lacking "$tmp/variables" | none 'pages name variables that src/base/env_defs.h lacks'
cat man/*.[37] | grep -oE 'S-[EW]-[A-Z]+' | sed 's/.*-//' |
    lacking "$tmp/codes" | none 'pages name unknown codes'

# --- References ---

sed -n 's/^\.Xr \(shmem[^ ]*\|osh[^ ]*\|sluice\|bucketsort\|gol2d\|faces\|jacobi2d\) \([0-9]\).*/\1.\2/p' \
    "$@" | lacking "$tmp/names" | none 'references to no page'
{
    grep -oE '`man [^`]*`' README.md | tr -d '`' |
        sed 's/^man \([0-9]\) \(.*\)/\2.\1/; s/^man \([^.]*\)$/\1.1/'
    grep -ohE '(shmem|osh|sluice)[a-z_+]*\([137]\)' README.md docs/*.md \
        src/base/*.h include/*.h | sed 's/(\(.\))/.\1/'
} | lacking "$tmp/names" | none 'the README or the sources name no page'

# --- The build tree has all names, for MANPATH ---

for page in man3/shmemx_recv_init.3 man3/shmemx_send_init.3 \
    man7/shmem_env.7 man1/gol2d.1; do
    [ -s "$BUILD/obj/share/man/$page" ] || echo "$page"
done | none 'pages that are not in obj/share/man'

# --- Examples: those that are programs ---

for page in man/*.[37]; do
    awk -v page="$page" '
        /^\.Bd -literal/ { text = ""; begin = FNR + 1; on = 1; next }
        on && /^\.Ed/ {
            on = 0
            if (text !~ /main\(/) next
            name = page "_" begin; gsub(/[^A-Za-z0-9]/, "_", name)
            print "#define main " name "\n#line " begin " \"" page "\""
            print text "#undef main"
        }
        on { gsub(/\\e/, "\\"); gsub(/\\&/, ""); text = text $0 "\n" }' "$page"
done >"$tmp/examples.c"
grep -c '^#define main ' "$tmp/examples.c" >"$tmp/count"
[ "$(cat "$tmp/count")" -gt 30 ] || fail "only $(cat "$tmp/count") examples"
# shellcheck disable=SC2086  # CC may hold options
${CC:-cc} -std=c11 -fsyntax-only -Wall -Wextra -Iinclude "$tmp/examples.c" \
    >"$tmp/err" 2>&1
none 'examples' <"$tmp/err"

# --- Form ---

# What a heading says begins no macro: "In graphs" would read "<graphs>".  Nor
# does an English word of another line, and quotes end before another macro.
cat >"$tmp/macros.awk" <<'AWK'
BEGIN {
    n = split("Ad An Ao Ap Aq Ar At Bc Bo Bq Brc Bro Brq Bsx Bx Cd Cm Dc Do " \
        "Dq Dv Dx Ec Em En Eo Er Es Ev Fa Fc Fl Fn Fo Fr Ft Fx Ic In Lb Li " \
        "Lk Ms Mt Nm No Ns Nx Oc Oo Op Ot Ox Pa Pc Pf Po Pp Pq Qc Ql Qo Qq " \
        "Sc Sm So Sq St Sx Sy Ta Tn Ud Ux Va Vt Xc Xo Xr", names)
    while (n)
        macro[names[n--]]
}
function is_wrong(i, before) {
    if (before ~ / (Dq|Ql|Qq|Sq) / && $i ~ /^(No|Xr)$/)
        return 1
    if (i > 1 && $1 ~ /^\.S[hs]$/)
        return $i in macro
    return i > 1 && ($i ~ /^(Ad|An|At|Es|So)$/ ||
                     ($i == "In" && $(i + 1) !~ /\.h$/))
}
/^\.[A-Z]/ {
    line = $0
    gsub(/"[^"]*"/, "\"\"")             # one argument, and no macro
    before = " "
    for (i = 1; i <= NF && !is_wrong(i, before); i++)
        before = before (i > 1 ? $i : substr($i, 2)) " "
    if (i <= NF)
        print FILENAME ":" FNR ": " line
}
AWK
awk -f "$tmp/macros.awk" "$@" | none 'words that are macros (escape them: \&In)'
cat >"$tmp/page" <<'PAGE'
.Ss In graphs
.It In input
.Pq Dq copy No in Xr a 1
.Ss \&In graphs
.Sh "No graphs"
.It In shmem.h , In mpp/shmem.h
.Ql kill -USR2 Ar number
.Pq Do copy Dc in Xr a 1
PAGE
awk -f "$tmp/macros.awk" "$tmp/page" >"$tmp/found"
[ "$(wc -l <"$tmp/found")" -eq 3 ] || fail "macros.awk: $(cat "$tmp/found")"

if command -v mandoc >/dev/null 2>&1; then
    mandoc -T lint -W warning "$@" 2>&1 | none 'mandoc'
else
    echo 'skip: mandoc is not installed: the form of the pages'
fi

[ ! -e "$tmp/failed" ] && echo "ok: $(wc -l <"$tmp/names") names," \
    "$(cat "$tmp/count") examples"
