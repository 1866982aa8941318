#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: wrong arguments of partitioned messages are refused with one line,
# and nothing is made ready; a kernel's wrong call ends the job with one;
# partitions that never come, a lost partner and the end of the program hang
# nothing.
# Light: half of its time it waits for what never comes
# Timeout: 90
set -u
. "$(dirname "$0")/../neg/neg.inc"
need_checks
export SHMEM_DEVICE=software SHMEM_TIMEOUT=3

program bad <<'C'
#include <signal.h>
#include <shmemx_part.h>
static long a[64], b[64];
static const char *word;
static shmemx_req_t s, r;
static shmemx_prequest_t ds, dr, empty;
static int pe, n;

static void kernel(const shmemx_item_t *it, void *arg)
{
    (void)arg;
    if (!strcmp(word, "k_part"))
        shmemx_dev_pready(&ds, 8);
    CASE(k_negative) shmemx_dev_pready_block(&ds, -1);
    CASE(k_twice) shmemx_dev_pready(&ds, 3), shmemx_dev_pready(&ds, 3);
    CASE(k_early) shmemx_dev_pready(&ds, 0);
    CASE(k_receive) shmemx_dev_pready(&dr, 0);
    CASE(k_arrived) shmemx_dev_parrived(&dr, 8);
    CASE(k_send) shmemx_dev_parrived(&ds, 0);
    CASE(k_empty) shmemx_dev_pready(&empty, 0);
    CASE(k_late) ((char *)a)[it->item] = 7, shmemx_dev_pready_block(&ds, 0);
    CASE(k_wait) shmemx_dev_parrived_wait(&dr, 5);
    shmemx_dev_quiet(&ds.trig.dev);
}

static int host(void)
{
    const shmemx_prequest_config_t config = { .mode = 9, .calls = 0 };
    const shmemx_prequest_config_t nic = { .mode = SHMEMX_PREQUEST_TRIGGER };
    const shmemx_prequest_config_t copy = { .mode = SHMEMX_PREQUEST_COPY };
    shmemx_req_t q = NULL;
    char odd[64];
    int flag;

    if (!strcmp(word, "none"))
        return shmemx_psend_init(a, 0, 8, pe, 1, &q);
    CASE(most) return shmemx_psend_init(a, 65537, 8, pe, 1, &q);
    CASE(zero) return shmemx_psend_init(a, 8, 0, pe, 1, &q);
    CASE(huge) return shmemx_psend_init(a, 8, (size_t)1 << 62, pe, 1, &q);
    CASE(long) return shmemx_precv_init(b, 2, (size_t)1 << 31, pe, 1, &q);
    CASE(pe) return shmemx_psend_init(a, 8, 8, n, 1, &q);
    CASE(tag) return shmemx_psend_init(a, 8, 8, pe, -1, &q);
    CASE(private) return shmemx_precv_init(odd, 8, 8, pe, 1, &q);
    CASE(null) return shmemx_psend_init(a, 8, 8, pe, 1, NULL);
    CASE(buffer) return shmemx_psend_init(NULL, 8, 8, pe, 1, &q);
    CASE(transport) return shmemx_ptransport(s, 0);
    CASE(late) return shmemx_ptransport(s, 2);
    CASE(unmatched) return shmemx_psend_init(a, 8, 8, pe, 1, &q) ? 9 : shmemx_req_start(q);
    CASE(kind) return shmemx_send_init(a, 8, pe, 1, &q) ? 9 : shmemx_req_start(q);
    CASE(nothing) return shmemx_req_start(NULL);
    CASE(twice) return shmemx_req_start(s) ? 9 : shmemx_req_start(s);
    CASE(list_twice) return shmemx_req_startall(2, (shmemx_req_t[]){ s, s });
    CASE(early) return shmemx_pready(s, 0);
    CASE(early_in) return shmemx_parrived(r, 0, &flag);
    CASE(receive) return shmemx_req_start(r) ? 9 : shmemx_pready(r, 0);
    CASE(send) return shmemx_parrived(s, 0, &flag);
    CASE(result) return shmemx_parrived(r, 0, NULL);
    CASE(part) return shmemx_req_start(s) ? 9 : shmemx_pready(s, 8);
    CASE(range) return shmemx_req_start(s) ? 9 : shmemx_pready_range(s, 3, 8);
    CASE(order) return shmemx_req_start(s) ? 9 : shmemx_pready_range(s, 3, 2);
    CASE(list) return shmemx_req_start(s) ? 9 : shmemx_pready_list(s, 2, NULL);
    CASE(again) return shmemx_req_start(s) || shmemx_pready(s, 1) ? 9
        : shmemx_pready(s, 1);
    CASE(mode) return shmemx_prequest_create(s, &config, 1, &empty);
    CASE(calls) return shmemx_prequest_create(s, &config, 2, &empty);
    CASE(mask) return shmemx_prequest_create(s, &config, 4, &empty);
    CASE(nic) return shmemx_prequest_create(s, &nic, 1, &empty);
    CASE(copy) return shmemx_prequest_create(s, &copy, 1, &empty);
    CASE(second) return shmemx_prequest_create(s, NULL, 0, &ds) ? 9
        : shmemx_prequest_create(s, NULL, 0, &empty);
    CASE(active) return shmemx_req_start(s) ? 9
        : shmemx_prequest_create(s, NULL, 0, &empty);
    CASE(unmade) return shmemx_prequest_free(&empty);
    CASE(free) return shmemx_req_start(s) ? 9 : shmemx_req_free(&s);
    CASE(waits) return shmemx_req_start(r) || shmemx_req_start(s) ||
        shmemx_pready(s, 2) ? 9 : shmemx_req_wait(r);
    CASE(sends) return shmemx_req_start(s) || shmemx_pready(s, 2) ? 9
        : shmemx_req_wait(s);
    CASE(end) return shmemx_req_start(r) || shmemx_req_start(s) ||
        shmemx_pready(s, 2);
    if (!strcmp(word, "killed")) {
        shmemx_req_start(r);
        shmemx_req_start(s);
        if (shmem_my_pe() == 1)
            raise(SIGKILL);
        return shmemx_pready_range(s, 0, 7) ? 9 : shmemx_req_wait(r);
    }
    return 7;
}

int main(int argc, char **argv)
{
    shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };
    shmemx_stream_t stream;
    int rc = 0;

    (void)argc;
    word = argv[1];
    shmem_init();
    n = shmem_n_pes();
    pe = (shmem_my_pe() + 1) % n;
    if (shmemx_psend_init(a, 8, 8, pe, 0, &s) ||
        shmemx_precv_init(b, 8, 8, (shmem_my_pe() + n - 1) % n, 0, &r))
        return 3;
    if (strcmp(word, "transport") &&
        shmemx_matchall(2, (shmemx_req_t[]){ s, r }))
        return 4;
    if (strncmp(word, "k_", 2)) {
        rc = host();
    } else if (shmem_my_pe() == 0) {
        if (shmemx_prequest_create(s, NULL, 0, &ds) ||
            shmemx_prequest_create(r, NULL, 0, &dr) ||
            shmemx_stream_create(&stream))
            return 5;
        if (strcmp(word, "k_early"))
            shmemx_req_startall(2, (shmemx_req_t[]){ s, r });
        if (!strcmp(word, "k_late"))
            grid.items = 4;
        begins();
        shmemx_stream_launch(stream, &grid, kernel, NULL);
        shmemx_stream_sync(stream);
    }
    shmem_barrier_all();
    shmem_finalize();
    return -rc;
}
C

# host WORD STATUS REGEX [N [PPN]]: refused on the host, and the program goes on.
host()
{
    try "${4-1}" --ppn "${5-2}" ./bad "$1"
    ended "$2" "$1"
    # At the end there is one more about what the program has started.
    grep -qE "shmemx_$3" "$err" &&
        ! grep -vE 'shmem_finalize: [12] partitioned messages? ' "$err" | grep -qvE "shmemx_$3" ||
        fail "$1: no '$3': $(head -n 4 "$err")"
}

# kernel WORD REGEX: near and far.
kernel()
{
    for ppn in 2 1; do
        try 2 --ppn $ppn ./bad "$1"
        ended 1 "$1, --ppn $ppn"
        grep -qE "PE 0 \([^ ]+\): $2" "$err" ||
            fail "$1, --ppn $ppn: no '$2': $(head -n 4 "$err")"
        soon "$1, --ppn $ppn"
    done
}

beside host none 22 'psend_init: 0 partitions: between 1 and 65536 \[S-W-ARG\]'
beside host most 22 'psend_init: 65537 partitions: .*\[S-W-ARG\]'
beside host zero 22 'psend_init: partitions of 0 bytes \[S-W-SIZE\]'
beside host huge 22 'psend_init: 8 partitions of [0-9]+ bytes exceed .*\[S-W-SIZE\]'
beside host long 22 'precv_init: .*\[S-W-ADDR\]'
beside host pe 22 'psend_init: .*PE 1.*\[S-W-PE\]'
beside host tag 22 'psend_init: tag -1 is negative.*\[S-W-ARG\]'
beside host private 22 'precv_init: .*is not symmetric memory, .*\[S-W-ADDR\]'
beside host null 22 'psend_init: no place for the request.*\[S-W-NULL\]'
beside host buffer 22 'psend_init: .*\[S-W-NULL\]'
beside host transport 22 'ptransport: 0 transport partitions \[S-W-ARG\]'
beside host late 16 'ptransport: the request is being matched already \[S-W-ARG\]'
beside host unmatched 22 'req_start: request 0 .* is not matched: .*\[S-W-ARG\]'
beside host kind 22 'req_start: .* is no partitioned request \[S-W-ARG\]'
beside host nothing 22 'req_start: .*\[S-W-NULL\]'
beside host twice 16 'req_start: request 0 .* was started, and no call has waited for it.*\[S-W-ARG\]'
beside host list_twice 16 'req_startall: request 1 .* is in the list twice.*\[S-W-ARG\]'
together
beside host early 22 'pready: the send to PE 0, tag 0, is not started \[S-W-ARG\]'
beside host early_in 22 'parrived: the receive from PE 0, tag 0, is not started \[S-W-ARG\]'
beside host receive 22 'pready: the request .* receives \[S-W-ARG\]'
beside host send 22 'parrived: the request .* sends \[S-W-ARG\]'
beside host result 22 'parrived: the result is a null pointer \[S-W-NULL\]'
beside host part 22 'pready: partition 8: the request has partitions 0 to 7 \[S-W-ARG\]'
beside host range 22 'pready_range: partition 8: .*\[S-W-ARG\]'
beside host order 22 'pready_range: partitions 3 to 2: low is above high \[S-W-ARG\]'
beside host list 22 'pready_list: the list is a null pointer \[S-W-NULL\]'
beside host again 22 'pready: partition 1 is ready already \[S-W-ARG\]'
beside host mode 22 'prequest_create: mode 9 is none \[S-W-ARG\]'
beside host calls 22 'prequest_create: 0 calls for a partition \[S-W-ARG\]'
beside host mask 22 'prequest_create: mask 0x4 has unknown bits \[S-W-ARG\]'
beside host nic 95 'prequest_create: the send to PE 0, tag 0: the NIC does not do .*\[S-W-STREAM\]'
beside host copy 95 'prequest_create: the send to PE [01], tag 0: this device does not reach both buffers \[S-W-STREAM\]' 2 1
beside host second 16 'prequest_create: the request has a prequest \[S-W-ARG\]'
beside host active 16 'prequest_create: the request was started, and has not ended \[S-W-ARG\]'
beside host unmade 22 'prequest_free: .*\[S-W-NULL\]'
beside host free 16 'req_free: the request .* was started, and no call has waited for it \[S-W-ARG\]'
together
beside kernel k_part 'shmemx_dev_pready: partition 8, in a kernel of this PE: the request has partitions 0 to 7 \[S-E-ARG\]'
beside kernel k_negative 'shmemx_dev_pready: partition -1, .*\[S-E-ARG\]'
beside kernel k_twice 'shmemx_dev_pready: a kernel of this PE makes partition 3 ready twice in an iteration \[S-E-ARG\]'
beside kernel k_early 'shmemx_dev_pready: partition 0, .*the request is not started \[S-E-ARG\]'
beside kernel k_receive 'shmemx_dev_pready: partition 0, .*the request receives \[S-E-ARG\]'
beside kernel k_arrived 'shmemx_dev_parrived: partition 8, .*\[S-E-ARG\]'
beside kernel k_send 'shmemx_dev_parrived: partition 0, .*the request sends \[S-E-ARG\]'
together

# Nothing hangs.  A line about a wait comes here alone: a slow start has one, too.
export SHMEM_STALL=1
try 2 ./bad end
ended 0 end
try 2 --timeout 8 ./bad waits
grep -qE 'shmemx_req_wait waits for [12] s for 7 of 8 transport partitions from PE [01], tag 0, the first of them number 0' \
    "$err" || fail "waits: $(head -n 4 "$err")"
try 2 --timeout 8 ./bad sends
grep -qE 'shmemx_req_wait waits for [12] s for a partitioned send to PE [01], tag 0: 0 of 8 transport partitions have gone, and the receive is not started' \
    "$err" || fail "sends: $(head -n 4 "$err")"
try 2 --timeout 8 ./bad k_wait
grep -qE 'shmemx_dev_parrived waits for [12] s for 0 to be >= 1 at heap\+0x[0-9a-f]+, which PE 1 raises; 8 of 8 transport partitions from PE 1, tag 0, the first of them number 0' \
    "$err" || fail "k_wait: $(head -n 4 "$err")"
for ppn in 2 1; do
    try 2 --ppn $ppn ./bad killed
    [ $status -ne 0 ] || fail "killed, --ppn $ppn: exit status 0"
    in_time $ms 8000 || fail "killed, --ppn $ppn: $ms ms"
done
# A prequest of zeros.
try 2 ./bad k_empty
ended 1 k_empty
said k_empty 'sluice: PE 0 \([^ ]+\): shmemx_dev_pready: the object is empty: shmemx_prequest_create\(\) fills it \[S-E-STATE\]'
# Only with checks that cost time.
export SHMEM_CHECK=1
kernel k_late 'shmemx_dev_pready: partition 0, in a kernel of this PE: items of the group have stored to its data after the first one has made this call, in the same phase: .*\[S-E-ARG\]'
finish 'partitioned messages refuse what is wrong'
