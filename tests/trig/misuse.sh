#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: wrong arguments of triggers are refused with one line, and nothing
# is posted; a kernel's wrong hit ends the job with one; hits of freed triggers,
# operations that never begin, lost peers and the end of the program hang nothing.
# Light: half of its time it waits for what never comes
# Timeout: 90
set -u
. "$(dirname "$0")/../neg/neg.inc"
need_checks
export SHMEM_DEVICE=software SHMEM_TIMEOUT=3

program bad <<'C'
#include <shmemx_trig.h>
static long a[8], b[8];
static uint64_t sig;
static const char *word;
static shmemx_trig_t t, freed;
static shmemx_trig_dev_t d, of_freed, empty;
static int pe, n;

static void kernel(const shmemx_item_t *it, void *arg)
{
    (void)arg;
    if (!strcmp(word, "k_tag"))
        shmemx_dev_trigger(&d, 4, 1);
    CASE(k_negative) shmemx_dev_trigger(&d, -1, 1);
    CASE(k_freed) shmemx_dev_trigger(&of_freed, 0, 1);
    CASE(k_empty) shmemx_dev_trigger(&empty, 0, 1);
    CASE(k_test) shmemx_dev_trig_test(&d, 99);
    CASE(k_wait_tag) shmemx_dev_trig_wait(&d, 4, 1);
    CASE(k_op_pe) shmemx_dev_trigger_op(&d, 1, 1, a, b, 8, n);
    CASE(k_op_addr) shmemx_dev_trigger_op(&d, 1, 1, malloc(8), b, 8, pe);
    CASE(k_op_long) shmemx_dev_trigger_op(&d, 1, 1, a, b, (size_t)1 << 31, pe);
    CASE(k_op_none) shmemx_dev_trigger_op(&d, 0, 1, a, b, 8, pe);
    CASE(k_late) ((char *)b)[it->item] = 7, shmemx_dev_trigger_block(&d, 3, 1);
    CASE(k_wait) shmemx_dev_trig_wait(&d, 1, 1);
    shmemx_dev_quiet(&d.dev);
}

static int host(void)
{
    const shmemx_trig_config_t config = { .engine = 9 };
    const shmemx_trig_config_t nic = { .engine = SHMEMX_TRIG_NIC };
    const shmemx_trig_config_t copy = { .engine = SHMEMX_TRIG_COPY };
    shmemx_trig_t out = NULL;
    uint64_t done;
    char *odd = (char *)a + 2;

    if (!strcmp(word, "tags"))
        return shmemx_trig_create(SHMEM_CTX_DEFAULT, 0, NULL, 0, &out);
    CASE(most) return shmemx_trig_create(SHMEM_CTX_DEFAULT, 65537, NULL, 0, &out);
    CASE(mask) return shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, &config, 2, &out);
    CASE(engine) return shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, &config, 1, &out);
    CASE(no_nic) return shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, &nic, 1, &out);
    CASE(copy_hit) return shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, &copy, 1, &out)
        ? 9 : shmemx_trig_hit(out, 0, 1);
    CASE(copy_stream) return shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, &copy, 1,
                                                &out)
        ? 9 : shmemx_trig_hit_on_stream(out, 0, 1, NULL);
    CASE(copy_two) return shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, &copy, 1, &out)
        || shmemx_trig_put(out, 0, 1, a, b, 8, pe)
        ? 9 : shmemx_trig_put(out, 0, 2, a, b, 8, pe);
    CASE(copy_active) return shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, &copy, 1,
                                                &out)
        || shmemx_trig_put(out, 0, 1, a, b, 8, pe) ? 9 : shmemx_trig_free(&out);
    CASE(config) return shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, NULL, 1, &out);
    CASE(ctx) return shmemx_trig_create(SHMEM_CTX_INVALID, 1, NULL, 0, &out);
    CASE(null) return shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, NULL, 0, NULL);
    CASE(tag) return shmemx_trig_put(t, 4, 1, a, b, 8, pe);
    CASE(negative) return shmemx_trig_hit(t, -2, 1);
    CASE(pe) return shmemx_trig_put(t, 0, 1, a, b, 8, n);
    CASE(addr) return shmemx_trig_put(t, 0, 1, &odd, b, 8, pe);
    CASE(long) return shmemx_trig_put(t, 0, 1, a, b, (size_t)1 << 31, pe);
    CASE(source) return shmemx_trig_get(t, 0, 1, b, odd + (1 << 30), 8, pe);
    CASE(align) return shmemx_trig_atomic_add_int64(t, 0, 1, (int64_t *)odd, 1, pe);
    CASE(operator) return shmemx_trig_signal_op(t, 0, 1, &sig, 1, 77, pe);
    CASE(threshold) return shmemx_trig_put(t, 0, UINT64_MAX, a, b, 8, pe);
    CASE(freed) return shmemx_trig_hit(freed, 0, 1);
    CASE(garbage) return shmemx_trig_wait((shmemx_trig_t)(void *)a, 0, 1);
    CASE(nothing) return shmemx_trig_test(NULL, 0, &done);
    CASE(result) return shmemx_trig_test(t, 0, NULL);
    CASE(dev) return shmemx_trig_dev(t, NULL);
    CASE(repeat_0) return shmemx_trig_put(t, 0, 0, a, b, 8, pe)
        ? 9 : shmemx_trig_repeat(t, 0);
    CASE(repeat_none) return shmemx_trig_repeat(t, 2);
    CASE(active) return shmemx_trig_put(t, 0, 1, a, b, 8, pe)
        ? 9 : shmemx_trig_free(&t);
    CASE(rearm) return shmemx_trig_put(t, 0, 1, a, b, 8, pe)
        ? 9 : shmemx_trig_rearm(t, SHMEMX_TRIG_ALL);
    if (!strcmp(word, "buffer")) {
        long *p = shmem_malloc(64), *done = shmem_malloc(64);

        shmemx_trig_put(t, 2, 1, done, b, 8, pe);
        shmemx_trig_hit(t, 2, 1);
        shmemx_trig_wait(t, 2, 1);
        shmem_free(done);       /* that one has completed */
        shmemx_trig_put(t, 3, 1, a, p + 7, 8, pe);
        shmem_free(p);
        return 0;
    }
    CASE(never) return shmemx_trig_put(t, 0, 1, a, b, 8, pe);   /* then finalize */
    CASE(stream_waits) {
        shmemx_stream_t s;
        int rc = shmemx_stream_create(&s);

        rc = rc ? rc : shmemx_trig_put(t, 2, 3, a, b, 8, pe);
        rc = rc ? rc : shmemx_trig_hit(t, 2, 2);
        rc = rc ? rc : shmemx_trig_wait_on_stream(t, 2, 1, s);
        for (int i = 0; i < 40; i++)    /* the watchdog has its time */
            usleep(100000);
        /* Triggers may go before the stream comes to its waits for them. */
        for (int i = 0; i < 200 && !rc; i++) {
            rc = shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, NULL, 0, &out);
            rc = rc ? rc : shmemx_trig_put(out, 0, 0, a, b, 8, pe);
            rc = rc ? rc : shmemx_trig_hit_on_stream(out, 0, 1, s);
            rc = rc ? rc : shmemx_trig_wait_on_stream(out, 0, 1, s);
            rc = rc ? rc : shmemx_trig_wait(out, 0, 1);
            rc = rc ? rc : shmemx_trig_free(&out);
        }
        rc = rc ? rc : shmemx_trig_hit(t, 2, 1);
        rc = rc ? rc : shmemx_stream_sync(s);
        /* Flags of triggers that are gone are waited for by no stream. */
        for (int i = 0; i < 200 && !rc; i++) {
            rc = shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, NULL, 0, &out);
            rc = rc ? rc : shmemx_trig_wait_on_stream(out, 0, 0, s);
            rc = rc ? rc : shmemx_trig_free(&out);
        }
        return rc;
    }
    CASE(waits) return shmemx_trig_put(t, 0, 3, a, b, 8, pe)
        ? 9 : shmemx_trig_hit(t, 0, 2) ? 8 : shmemx_trig_wait(t, 0, 1);
    return 7;
}

int main(int argc, char **argv)
{
    shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };
    shmemx_stream_t s;
    int rc = 0;

    (void)argc;
    word = argv[1];
    shmem_init();
    n = shmem_n_pes();
    pe = (shmem_my_pe() + 1) % n;
    if (shmemx_trig_create(SHMEM_CTX_DEFAULT, 4, NULL, 0, &t) ||
        shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, NULL, 0, &freed) ||
        shmemx_trig_dev(t, &d) || shmemx_trig_dev(freed, &of_freed) ||
        shmemx_stream_create(&s))
        return 3;
    {
        shmemx_trig_t gone = freed;

        if (shmemx_trig_free(&gone) || gone)
            return 4;
    }
    if (!strcmp(word, "k_late")) {
        grid.items = 4;
        shmemx_trig_put(t, 3, 1, a, b, 8, pe);
    }
    if (strncmp(word, "k_", 2)) {
        rc = host();
    } else if (shmem_my_pe() == 0) {
        shmemx_trig_put(t, 1, 1, a, b, 8, pe);
        begins();
        shmemx_stream_launch(s, &grid, kernel, NULL);
        shmemx_stream_sync(s);
    }
    shmem_barrier_all();
    shmem_finalize();
    return -rc;
}
C

# host WORD STATUS REGEX: refused on the host, and the program goes on.
host()
{
    try 1 ./bad "$1"
    ended "$2" "$1"
    # At the end there is one more about what the program has posted.
    [ "$(grep -vcE 'shmem_finalize: [12] operations? of (a trigger|triggers) ' "$err")" -eq 1 ] &&
        grep -qE "shmemx_trig_$3" "$err" ||
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

beside host tags 22 'create: 0 tags: between 1 and 65536 \[S-W-ARG\]'
beside host most 22 'create: 65537 tags: .*\[S-W-ARG\]'
beside host mask 22 'create: mask 0x2 has unknown bits \[S-W-ARG\]'
beside host no_nic 95 'create: no NIC of this PE has deferred work \(SHMEM_TRIGGER\) \[S-W-NET\]'
beside host copy_hit 95 'hit: the trigger has SHMEMX_TRIG_COPY: only kernels hit it \[S-W-ARG\]'
beside host copy_stream 95 'hit_on_stream: the trigger has SHMEMX_TRIG_COPY: .*\[S-W-ARG\]'
beside host copy_two 22 'put: tag 0 has an operation: with SHMEMX_TRIG_COPY a tag has one \[S-W-ARG\]'
beside host copy_active 16 'free: an operation of tag 0 waits for hits: .*\[S-W-FREE\]'
beside host engine 22 'create: engine 9 is none \[S-W-ARG\]'
beside host config 22 'create: config is a null pointer \[S-W-NULL\]'
beside host ctx 22 'create: an invalid context, .*\[S-W-CTX\]'
beside host null 22 'create: trig is a null pointer \[S-W-NULL\]'
beside host tag 22 'put: tag 4: the trigger has tags 0 to 3 \[S-W-ARG\]'
beside host negative 22 'hit: tag -2: the trigger has tags 0 to 3 \[S-W-ARG\]'
beside host pe 22 'put: .*PE 1.*\[S-W-PE\]'
beside host addr 22 'put: .*not a symmetric address.*: not posted \[S-W-ADDR\]'
beside host long 22 'put: .*\[S-W-ADDR\]'
beside host source 22 'get: .*\[S-W-ADDR\]'
beside host align 22 'atomic_add_int64: .*\[S-W-ALIGN\]'
beside host operator 22 'signal_op: signal operator 77 .*\[S-W-ARG\]'
beside host threshold 22 'put: threshold 18446744073709551615 exceeds .*\[S-W-ARG\]'
beside host freed 22 'hit: 0x[0-9a-f]+ is no trigger, or has been freed \[S-W-ARG\]'
beside host garbage 22 'wait: 0x[0-9a-f]+ is no trigger, .*\[S-W-ARG\]'
beside host nothing 22 'test: .*is no trigger, .*\[S-W-ARG\]'
beside host result 22 'test: the result is a null pointer \[S-W-NULL\]'
beside host dev 22 'dev: dev is a null pointer \[S-W-NULL\]'
beside host repeat_0 22 'repeat: tag 0 has threshold 0 alone.*\[S-W-ARG\]'
beside host repeat_none 22 'repeat: tag 2 has no operation: post it before \[S-W-ARG\]'
beside host active 16 'free: an operation of tag 0 waits for hits: .*\[S-W-FREE\]'
beside host rearm 16 'rearm: 1 of 1 operations of tag 0 have not completed \[S-W-ARG\]'
together
beside kernel k_tag 'shmemx_dev_trigger: a kernel of this PE hits tag 4: the trigger has tags 0 to 3 \[S-E-ARG\]'
beside kernel k_negative 'shmemx_dev_trigger: a kernel of this PE hits tag -1: .*\[S-E-ARG\]'
beside kernel k_freed 'shmemx_dev_trigger: a kernel of this PE hits tag 0 of a trigger that has been freed \[S-E-ARG\]'
beside kernel k_test 'shmemx_dev_trig_test: a kernel of this PE asks for tag 99: the trigger has tags 0 to 3 \[S-E-ARG\]'
beside kernel k_wait_tag 'shmemx_dev_trig_wait: a kernel of this PE asks for tag 4: .*\[S-E-ARG\]'
beside kernel k_op_pe 'shmemx_dev_trigger_op: .*PE 2.* for tag 1, in a kernel of this PE \[S-E-PE\]'
beside kernel k_op_addr 'shmemx_dev_trigger_op: .*not a symmetric address.* for tag 1, .*\[S-E-ADDR\]'
beside kernel k_op_long 'shmemx_dev_trigger_op: .* for tag 1, .*\[S-E-ADDR\]'
beside kernel k_op_none 'shmemx_dev_trigger_op: tag 0 of a trigger has not one put or get.*\[S-E-ARG\]'
together

# Memory that an operation is to use.
try 1 ./bad buffer
ended 0 buffer
grep -qxE 'sluice: PE 0 \([^ ]+\): shmem_free: 64 bytes at 0x[0-9a-f]+ are in use: an operation of a trigger, tag 3, PE 0; they are freed all the same: free requests or reset triggers before their buffers \[S-W-FREE\]' \
    "$err" || fail "buffer: $(cat "$err")"
[ "$(grep -c shmem_free "$err")" -eq 1 ] || fail "buffer: $(cat "$err")"

# Nothing hangs: what waits for hits at the end never begins, which each PE says,
# and a wait for ever is reported and ended by the job.
try 2 ./bad never
ended 0 never
for pe in 0 1; do
    grep -qxE "sluice: PE $pe \\([^ ]+\\): shmem_finalize: 1 operation of a trigger waits for hits, shmemx_trig_put, PE $((1 - pe)), tag 0: it is never done; shmemx_trig_reset\\(\\) removes such \\[S-W-STREAM\\]" "$err" ||
        fail "never: $(cat "$err")"
done
[ "$(wc -l <"$err")" -eq 2 ] || fail "never: $(cat "$err")"
export SHMEM_STALL=1            # from here: a slow start has a line, too
try 2 --timeout 4 ./bad waits
grep -qE 'shmemx_trig_wait waits for [12] s for 0 to be >= 1 at 0x[0-9a-f]+; tag 0 of a trigger: 2 hits so far, the next operation wants 3' \
    "$err" || fail "waits: $(head -n 4 "$err")"
fake=$BUILD/obj/tests/fake
for device in software cuda; do
    SHMEM_DEVICE=$device FAKE_DEVICE=discrete \
        LD_LIBRARY_PATH="$fake/cuda:$fake/nvrtc" try 1 ./bad stream_waits
    ended 0 "stream_waits, $device"
    grep -qE 'stream 0x[0-9a-f]+: shmemx_trig_wait_on_stream waits for [1-4] s for tag 2 of a trigger: 2 hits so far, the next operation wants 3' "$err" ||
        fail "stream_waits, $device: $(cat "$err")"
done
try 2 --timeout 4 ./bad k_wait
grep -qE 'shmemx_dev_trig_wait waits for [12] s for 0 to be >= 1 at 0x[0-9a-f]+; tag 1 of a trigger: 0 hits so far, the next operation wants 1' \
    "$err" || fail "k_wait: $(head -n 4 "$err")"
export SHMEM_STALL=60
# A state of zeros.
try 2 ./bad k_empty
ended 1 k_empty
said k_empty 'sluice: PE 0 \([^ ]+\): shmemx_dev_trigger: the object is empty: shmemx_trig_dev\(\) fills it \[S-E-STATE\]'
# Only with checks that cost time.
export SHMEM_CHECK=1
kernel k_late 'shmemx_dev_trigger: tag 3, in a kernel of this PE: items of the group have stored to its data after the first one has made this call, in the same phase: .*\[S-E-ARG\]'
finish 'triggers refuse what is wrong'
