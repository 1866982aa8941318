#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: whatever fails at start-up, on all PEs or on one, ends the job
# within 2 s with one line of the PE that failed, none of those that lost it.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
int main(void)
{
    shmem_init();
    printf("started\n");
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
C

# By oshrun's own channel, or by PMIx.
pmix=
# all SITE REGEX: the site fails on each of three PEs that comes to it.
all()
{
    try 3 $pmix env ${pmix:+-u SLUICE_JOB} "SHMEM_FAULT=$1:1" ./bad
    ended 1 "$1"
    said "$1" "$2"
    soon "$1"
}
# one SITE REGEX: on the last of three.
one()
{
    # shellcheck disable=SC2016
    try 3 $pmix env ${pmix:+-u SLUICE_JOB} FAULT="$1:1" sh -c '[ "$SLUICE_JOB_PE" != 2 ] ||
        export SHMEM_FAULT="$FAULT"; exec ./bad'
    ended 1 "$1 of PE 2"
    said "$1 of PE 2" "sluice: PE 2 \\([^ ]+\\): $2"
    soon "$1 of PE 2"
}
alone='sluice: PE [0-2] \([^ ]+\): '

memory='Cannot allocate memory'
fence='the fence of 3 PEs at start-up: Connection timed out \(after SHMEM_FAULT made rt\.fence fail\) \[S-E-PMI\]'
map="mapping [0-9]+ bytes of node memory \\(3 slots\\): $memory; is an address-space limit set \\(ulimit -v\\)\\? \\(after SHMEM_FAULT made sm\\.map fail\\) \\[S-E-NODE\\]"
data="remapping [0-9]+ bytes of static data: $memory; SHMEM_STATIC_DATA=0 leaves it private \\(after SHMEM_FAULT made heap\\.data fail\\) \\[S-E-DATA\\]"
all rt.fence "$alone$fence$others"
one rt.fence "$fence"
pmix=--pmix
fence='PMIx_Fence of 3 PEs: TIMEOUT \(after SHMEM_FAULT made rt\.fence fail\) \[S-E-PMI\]'
all rt.fence "$alone$fence$others"
one rt.fence "$fence"
pmix=
all sm.memfd "${alone}memfd_create: $memory \\(after SHMEM_FAULT made sm\\.memfd fail\\) \\[S-E-NODE\\]"
all sm.map "$alone$map$others"
one sm.map "$map"
all heap.data "$alone$data$others"
one heap.data "$data"

# One that does not know the token is refused by name and says so itself, where
# PMIx is the way and the PEs of a node meet at a socket.
# shellcheck disable=SC2016
try 3 --pmix env -u SLUICE_JOB sh -c '[ "$SLUICE_JOB_PE" != 2 ] || export SHMEM_FAULT=sm.hello:1; exec ./bad'
ended 1 'a wrong token'
grep -qE '^sluice: PE 0 \([^ ]+\): refused a connection of pid [0-9]+ to the node.s socket: it does not know the job.s token \[S-W-NODE\]$' "$err" ||
    fail "a wrong token: $(cat "$err")"
[ "$(grep -v S-W-NODE "$err" | sed 's/([^ ]*)/(h)/')" = \
    'sluice: PE 2 (h): joining PE 0, the leader of this node: Connection reset by peer (after SHMEM_FAULT made sm.hello fail) [S-E-NODE]' ] ||
    fail "a wrong token: $(cat "$err")"

# One that ends before it comes: the others do not tell of it.
# shellcheck disable=SC2016
try 3 sh -c '[ "$SLUICE_JOB_PE" != 1 ] || { sleep 0.1; kill -9 $$; }; exec ./bad'
ended 137 'a PE dies before init'
said 'a PE dies before init' 'oshrun: PE 1 .* was killed by signal 9 \(Killed\); ending the other 2 PEs \[S-E-PEDIED\]'
soon "a PE dies before init"

finish 'failures at start-up'
