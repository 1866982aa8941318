/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: named sites fail as often as SHMEM_FAULT says, the same way
 * for the same seed, and the count is reported. */
#include "unit.h"

#include "base/env.h"
#include "base/fault.h"
#include "base/log.h"

#include <errno.h>
#include <pthread.h>

#define FAULT(NAME, site, what) site,
static const char *const names[] = {
#include "base/fault_defs.h"
};
#undef FAULT

static const char *said;        /* by the last load() */

static int load(const char *text)
{
    int rc;

    env.FAULT = text;
    unit_capture();
    rc = fault_load();
    said = unit_captured();
    return rc;
}

static int hits(enum fault_site site, int calls)
{
    int n = 0;

    while (calls-- > 0)
        n += fault_hit(site);
    return n;
}

T(nothing_fails_unless_it_is_asked_for)
{
    T_EQ(load(""), 0);
    T_TRUE(!fault_armed);
    for (int s = 0; s < FAULT_SITES; s++)
        T_EQ(hits((enum fault_site)s, 100), 0);
}

T(each_site_has_its_name)
{
    char text[64];

    for (int s = 0; s < FAULT_SITES; s++) {
        snprintf(text, sizeof text, "%s:1", names[s]);
        T_EQ(load(text), 0);
        T_STR(said, "");
        for (int other = 0; other < FAULT_SITES; other++)
            T_EQ(hits((enum fault_site)other, 50), other == s ? 50 : 0);
    }
}

T(earlier_names_stay_valid)
{
    static const struct {
        const char *text;
        enum fault_site site;
    } old[] = {
        { "heap.lend:1", FAULT_HEAP_EXPORT },
        { "stream_agent:1", FAULT_STREAM_PROGRESS },
        { "stream_look:1", FAULT_STREAM_POLL },
        { "stream_left:1", FAULT_STREAM_KEEP }
    };

    for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
        T_EQ(load(old[i].text), 0);
        T_EQ(hits(old[i].site, 10), 10);
    }
}

T(a_rate_is_met)
{
    int n;

    T_EQ(load("heap.alloc:0.25:7,sm.map:0:7,rt.fence:1.0:0"), 0);
    n = hits(FAULT_HEAP_ALLOC, 40000);
    T_LT(9600, n);              /* 4.6 standard deviations to each side */
    T_LT(n, 10400);
    T_EQ(hits(FAULT_SM_MAP, 1000), 0);
    T_EQ(hits(FAULT_RT_FENCE, 1000), 1000);
}

static void record(const char *text, bool *out, int n)
{
    T_EQ(load(text), 0);
    for (int i = 0; i < n; i++)
        out[i] = fault_hit(FAULT_HEAP_ALLOC);
}

T(a_seed_gives_the_same_run_again)
{
    enum { N = 256 };
    bool one[N], two[N], other[N], hex[N], alone[N];

    record("heap.alloc:0.5:42", one, N);
    record("heap.alloc:0.5:42", two, N);
    record("heap.alloc:0.5:43", other, N);
    record("heap.alloc:0.5:0x2a,sm.map:0.5:9", hex, N);
    T_MEM(one, two, sizeof one);
    T_MEM(one, hex, sizeof one);
    T_NE(memcmp(one, other, sizeof one), 0);
    /* Other sites do not disturb it. */
    T_EQ(load("heap.alloc:0.5:42,sm.map:0.5:9"), 0);
    for (int i = 0; i < N; i++) {
        hits(FAULT_SM_MAP, i % 3);
        alone[i] = fault_hit(FAULT_HEAP_ALLOC);
    }
    T_MEM(one, alone, sizeof one);
}

T(bad_words_are_refused)
{
    static const char *const bad[] = {
        "heap", "heap.alloc", "heap.alloc:", "heap.alloc:x", "heap.alloc:1.5",
        "heap.alloc:-1", "heap.alloc:nan", "heap.alloc:0.5:", "heap.alloc:1:x",
        "heap.alloc:1:2:3", "heap.alloc:1 ", "kitchen:1", "heap.allo:1",
        "heap.allocs:1", "heap.alloc:1,kitchen:1", ",", ":1",
    };
    char expect[96];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!T_EQ(load(bad[i]), -EINVAL))
            fprintf(stderr, "  that was \"%s\"\n", bad[i]);
        snprintf(expect, sizeof expect, "SHMEM_FAULT is \"%s\": want "
                 "site:rate:seed", bad[i]);
        T_HAS(said, expect);
        T_HAS(said, " [S-E-ENV]\n");
        T_EQ(unit_lines(said), 1);
    }
}

T(the_counts_are_printed)
{
    const char *text;

    T_EQ(load("heap.alloc:1:5,sm.map:0,rt.init:1:6"), 0);
    hits(FAULT_HEAP_ALLOC, 3);
    hits(FAULT_SM_MAP, 3);
    unit_capture();
    fault_report();
    text = unit_captured();
    T_HAS(text, "heap.alloc failed 3 of 3 times, seed 5 [S-W-FAULT]\n");
    T_HAS(text, "rt.init failed 0 of 0 times, seed 6 [S-W-FAULT]\n");
    T_EQ(unit_lines(text), 2);
    T_EQ(load(""), 0);
    unit_capture();
    fault_report();
    T_STR(unit_captured(), "");
}

T(the_next_error_names_the_site)
{
    const char *text;

    T_EQ(load("sm.map:1,rt.init:0"), 0);
    T_EQ(hits(FAULT_RT_INIT, 1), 0);
    unit_capture();
    log_error(ERR_NODE, "one");
    T_HAS(unit_captured(), "): one [S-E-NODE]\n");
    T_EQ(hits(FAULT_SM_MAP, 1), 1);
    unit_capture();
    log_warn(ERR_NODE, "two");
    log_error(ERR_NODE, "three");
    log_error(ERR_NODE, "four");
    text = unit_captured();
    T_HAS(text, "): two [S-W-NODE]\n");
    T_HAS(text, "): three (after SHMEM_FAULT made sm.map fail) [S-E-NODE]\n");
    T_HAS(text, "): four [S-E-NODE]\n");
    T_EQ(load(""), 0);
}

enum { THREADS = 4, CALLS = 1000000 };
static atomic_int total, ready;

static void *call(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < THREADS)
        ;
    atomic_fetch_add(&total, hits(FAULT_SM_HELLO, CALLS));
    return NULL;
}

/* Threads share the sequence, so the sum is that of one thread. */
T(threads_lose_no_count)
{
    pthread_t thread[THREADS];
    int alone;

    T_EQ(load("sm.hello:0.5:3"), 0);
    alone = hits(FAULT_SM_HELLO, THREADS * CALLS);
    T_EQ(load("sm.hello:0.5:3"), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, call, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    T_EQ(atomic_load(&total), alone);
    unit_capture();
    fault_report();
    T_HAS(unit_captured(), " of 4000000 times, seed 3");
}

int main(void)
{
    T_RUN(nothing_fails_unless_it_is_asked_for);
    T_RUN(each_site_has_its_name);
    T_RUN(earlier_names_stay_valid);
    T_RUN(a_rate_is_met);
    T_RUN(a_seed_gives_the_same_run_again);
    T_RUN(bad_words_are_refused);
    T_RUN(the_counts_are_printed);
    T_RUN(the_next_error_names_the_site);
    T_RUN(threads_lose_no_count);
    return T_DONE();
}
