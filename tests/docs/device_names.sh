#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the guide to the names of kernels' calls names calls that exist,
# of shmemx_dev.h and of the headers of include/compat, in the scopes it says.
set -u
guide=$SRC/docs/guide/device_names.md
failed=0
fail() { echo "FAIL: $*"; failed=1; }

echo '#include <compat/nvshmem.h>' |
    "${CC:-cc}" -E -P -I"$SRC/include" -x c - >headers || exit 1
grep -oE '\b(nvshmemx?|shmemx_dev|shmemx?)_[A-Za-z0-9_]+' headers | sort -u >names

# one NAME: it exists, with a type, a size and an operation.
one()
{
    call=$(echo "$1" | sed 's/TYPENAME/int32/; s/SIZE/32/; s/_OP_/_sum_/')
    grep -qx "$call" names || fail "$1: no $call"
}

# Calls of NVSHMEM, but for those that the last table says are not there.
sed '/^What is not there/,$d' "$guide" | grep -oE '`nvshmemx?_[A-Za-z0-9_]+`' |
    tr -d '`' | grep -v NAME_ | grep -v '_NAME$' | sort -u >nv
sed '/^What is not there/,$d' "$guide" | grep 'TYPENAME' | grep -oE '`nvshmemx?_[A-Za-z0-9_]*TYPENAME[A-Za-z0-9_]*`' |
    tr -d '`' | sort -u >>nv
[ "$(wc -l <nv)" -gt 40 ] || fail "only $(wc -l <nv) names of NVSHMEM"
while read -r name; do
    case $name in
    nvshmemx_collective_launch) ;;      # of CUDA alone
    *) one "$name" ;;
    esac
done <nv

# Ours: the fourth column, with each scope of the fifth behind the names.
sed -n '/^## Calls/,/^Collectives/p' "$guide" | grep '^| ' |
    awk -F'|' '$6 ~ /[twb]/ && $5 ~ /`/ { print $6 "|" $5 }' |
    while IFS='|' read -r scopes ours; do
        for name in $(echo "$ours" | grep -oE '`[A-Za-z_0-9]+`' | tr -d '`'); do
            case $name in
            _* | *_pes_* | shmemx_*) continue ;;
            pe_quiet) one shmemx_dev_pe_quiet; continue ;;
            esac
            one "shmemx_dev_$name"
            case $scopes in *w*) one "shmemx_dev_${name}_warp" ;; esac
            case $scopes in *b*) one "shmemx_dev_${name}_block" ;; esac
        done
        echo "$ours" >>seen
        [ $failed -eq 0 ] || echo bad >>bad
    done
[ "$(wc -l <seen)" -ge 22 ] || fail "only $(wc -l <seen) rows"
[ ! -e bad ] || failed=1

# What the guide says is not there.
for name in nvshmemx_init_attr nvshmemx_mc_ptr nvshmemx_buffer_register; do
    grep -q "\`$name\`" "$guide" || fail "$name is not in the guide"
    ! grep -qx $name names || fail "$name exists"
done
exit $failed
