#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: shmemg.h defines the functions of docs/shmemg-draft.txt, each with
# its type, and no other; those of the draft are 769; a test calls each.
set -u
: "${SRC:?the source directory}"
failed=0
fail() { echo "FAIL: $*"; failed=1; }

list=$SRC/docs/shmemg-draft.txt
grep -v '^#' "$list" >draft

# A pointer of the listed type to each function: a wrong type is an error.
{
    echo '#include <shmemg.h>'
    sed 's/^\(.*\)\(shmemg_[a-z0-9_]*\)(\(.*\));$/\1(*const of_\2)(\3) = \2;/' \
        draft
} >all.c
sed '1d; s/.*of_\(shmemg[a-z0-9_]*\).*/\1/' all.c | sort >listed
for cc in "${CC:-cc} -std=c99" "${CC:-cc} -std=c11"; do
    # shellcheck disable=SC2086
    $cc -Wall -Wextra -Wpedantic -Werror -Wno-unused-variable \
        -I"$SRC/include" -c all.c -o all.o 2>log || fail "$cc: $(head -n 8 log)"
done
${CXX:-c++} -std=c++11 -Wall -Wextra -Wpedantic -Werror \
    -Wno-unused-variable -x c++ -I"$SRC/include" -c all.c -o all.o 2>log ||
    fail "C++: $(head -n 8 log)"

# What the header defines, but for the four calls of the host.
echo '#include <shmemg.h>' >one.c
${CC:-cc} -E -P -I"$SRC/include" one.c | grep -oE '\<shmemg_[a-z0-9_]+ *\(' |
    tr -d ' (' | grep -vxE 'shmemg_(malloc|calloc|align|free)' | sort -u \
    >defined
cmp -s listed defined || fail "list < > header: $(diff listed defined | head)"

# Each is called by the test that runs them; the header has one more.
${CC:-cc} -E -P -I"$SRC/include" "$SRC/tests/kernel/shmemg_calls.c" |
    grep -oE '\<shmemg_[a-z0-9_]+ *\(' | tr -d ' (' | sort | uniq -c |
    awk '$1 > 1 { print $2 }' >called
[ -s called ] && lacking=$(join -v 1 listed called) && [ -z "$lacking" ] ||
    fail "kernel/shmemg_calls does not call: $(echo "$lacking" | head)"

# The draft's own, by its rule, without what it leaves out.
n=$(grep -cvE '(float|double)_atomic' listed)
[ "$n" -eq 769 ] || fail "$n functions of the draft, not 769"
[ "$(sort -u listed | wc -l)" -eq 789 ] || fail 'names appear twice'
[ $failed -eq 0 ] && echo "ok: $(wc -l <listed) functions"
[ $failed -eq 0 ]
