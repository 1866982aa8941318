#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the PMIx server of --pmix serves job data and keys, again after
# finalize, to many PEs, to nested jobs, to several jobs at once and to other
# users.
set -u
. "$(dirname "$0")/oshrun.inc"
compile job

# served N: the last try's output is that of N PEs.
served()
{
    [ "$(grep -c "^PE [0-9]* of $1\$" "$out")" -eq "$1" ] ||
        fail "$2: $(sort "$out" | head -n 5)"
}

for n in 1 2 5; do
    try --pmix -n $n "$dir/job"
    expect 0 "$n PEs" && silent "$n PEs"
    served $n "$n PEs"
done
try --pmix -n 6 "$dir/job" 5
expect 0 'five rounds of init and finalize' && served 6 'five rounds'
try --pmix -n 64 "$dir/job" 2
expect 0 '64 PEs, two rounds' && served 64 '64 PEs'

# Words of other launchers' jobs do not reach the PEs; settings do.
export PMIX_NAMESPACE=other PMIX_RANK=7 PMI_RANK=7 OMPI_COMM_WORLD_RANK=7
export PMIX_SERVER_URI2='other.0;tcp4://127.0.0.1:1' PMIX_MCA_test_x=1
try --pmix -n 2 sh -c 'env | grep -E "^(PMI_|OMPI_|PMIX_MCA_test)"; exec "$1"' sh "$dir/job"
expect 0 'inherited environment'
[ "$(grep -c '^PMIX_MCA_test_x=1$' "$out")" -eq 2 ] || fail "settings: $(cat "$out")"
[ "$(grep -vc '^PE ' "$out")" -eq 2 ] || fail "scrubbed: $(cat "$out")"
unset PMIX_NAMESPACE PMIX_RANK PMI_RANK OMPI_COMM_WORLD_RANK
unset PMIX_SERVER_URI2 PMIX_MCA_test_x

# A job within a PE, and the PE's own job goes on.
try --pmix --ppn 1 -n 2 sh -c '"$1" >/dev/null; SHMEM=1 oshrun --pmix -n 3 sh -c \
    "\"$1\" && echo \"ppn \${SHMEM_PPN-none}\""; "$1" 1 1' sh "$dir/job"
expect 0 'nested jobs' && silent 'nested jobs' && served 2 'nested jobs'
[ "$(grep -c 'of 3$' "$out")" -eq 6 ] || fail "nested jobs: $(cat "$out")"
[ "$(grep -c '^ppn none$' "$out")" -eq 6 ] || fail "nested --ppn: $(cat "$out")"

timeout 60 oshrun --pmix -n 4 "$dir/job" 8 >"$dir/a" 2>&1 </dev/null &
a=$!
timeout 60 oshrun --pmix -n 3 "$dir/job" 8 >"$dir/b" 2>&1 </dev/null &
b=$!
wait $a || fail "one of two jobs: $(cat "$dir/a")"
wait $b || fail "the other of two jobs: $(cat "$dir/b")"
[ "$(grep -c 'of 4$' "$dir/a")" -eq 4 ] || fail "first job: $(cat "$dir/a")"
[ "$(grep -c 'of 3$' "$dir/b")" -eq 3 ] || fail "second job: $(cat "$dir/b")"

# Another user: nothing of ours is in the way.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$dir" "$dir/job"
    cp "$(command -v oshrun)" "$dir/oshrun"
    if setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$dir/oshrun"
    then
        setpriv --reuid=65534 --regid=65534 --clear-groups timeout 60 \
            "$dir/oshrun" --pmix -n 3 "$dir/job" >"$out" 2>"$err" </dev/null
        status=$?
        expect 0 'as another user' && served 3 'as another user'
    fi
fi
finish 'PMIx: job data, keys, rounds, 64 PEs, nesting, two jobs, other user'
