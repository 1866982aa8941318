/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what only the software device has: kernels on a grid, a cap
 * on its memory, costs, and answers to misuse that hardware leaves undefined.
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_MEMORY=64m */
#include "gtl_test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* ---- kernels ---- */

enum { GROUPS = 37, ITEMS = 16, PHASES = 3 };

static struct {
    uint32_t runs[GROUPS][ITEMS][PHASES];
    uint32_t bad;
} grid_state;

/* Each item adds to a sum in scratch; in the next phase all see the whole. */
static void sum_up(const struct shmemx_item *it, void *arg)
{
    uint32_t *sum = it->scratch;

    T_EQ(arg, &grid_state);
    T_EQ(it->groups, GROUPS);
    T_EQ(it->items, ITEMS);
    if (*sum != it->phase * ITEMS + it->item)
        __atomic_fetch_add(&grid_state.bad, 1, __ATOMIC_RELAXED);
    ++*sum;
    __atomic_fetch_add(&grid_state.runs[it->group][it->item][it->phase], 1,
                       __ATOMIC_RELAXED);
}

T(a_grid_runs_every_item_once_in_each_phase)
{
    struct shmemx_grid g = {
        .groups = GROUPS, .items = ITEMS, .phases = PHASES, .scratch = 64
    };
    int times = 5;

    memset(&grid_state, 0, sizeof grid_state);
    for (int i = 0; i < times; i++)
        T_EQ(gtl->launch(&g, sum_up, &grid_state, some_stream), 0);
    memset(&g, 0xff, sizeof g);         /* it is taken at the call */
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(grid_state.bad, 0);
    for (int i = 0; i < GROUPS * ITEMS * PHASES; i++)
        T_EQ((&grid_state.runs[0][0][0])[i], times);
}

static void count_threads(const struct shmemx_item *it, void *arg)
{
    static __thread bool counted;

    if (!counted)
        __atomic_fetch_add((uint32_t *)arg, 1, __ATOMIC_RELAXED);
    counted = true;
    pause_ms(it->group % 2 ? 2000 : 1000);
}

T(groups_spread_over_the_cores)
{
    struct shmemx_grid g = { .groups = 64, .items = 1, .phases = 1 };
    uint32_t threads = 0;

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        T_SKIP("one core");
    T_EQ(gtl->launch(&g, count_threads, &threads, some_stream), 0);
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_LT(1, threads);
}

static void end_late(const struct shmemx_item *it, void *arg)
{
    pause_ms(it->group ? 5000 : 0);
    __atomic_fetch_add((uint32_t *)arg, 1, __ATOMIC_RELAXED);
}

T(a_grid_ends_with_its_last_group)
{
    struct shmemx_grid g = { .groups = 2, .items = 1, .phases = 1 };
    uint32_t ends = 0;

    for (uint32_t i = 1; i <= 10; i++) {
        T_EQ(gtl->launch(&g, end_late, &ends, some_stream), 0);
        T_EQ(gtl->stream_sync(some_stream), 0);
        T_EQ(__atomic_load_n(&ends, __ATOMIC_RELAXED), 2 * i);
    }
}

static void wait_for_word(const struct shmemx_item *it, void *arg)
{
    (void)it;
    while (!__atomic_load_n((uint64_t *)arg, __ATOMIC_ACQUIRE))
        pause_ms(100);
}

static void add_one(const struct shmemx_item *it, void *arg)
{
    (void)it;
    __atomic_fetch_add((uint32_t *)arg, 1, __ATOMIC_RELAXED);
}

T(a_kernel_that_waits_holds_no_other_stream)
{
    struct shmemx_grid g = { .groups = 64, .items = 1, .phases = 1 };
    void *held = new_stream();
    uint32_t sum = 0;

    set_word(0, 0);
    T_EQ(gtl->launch(&g, wait_for_word, words.here, held), 0);
    T_EQ(gtl->launch(&g, add_one, &sum, some_stream), 0);
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(sum, 64);
    T_EQ(gtl->stream_query(held), -EAGAIN);
    set_word(0, 1);
    T_EQ(gtl->stream_sync(held), 0);
    gtl->stream_destroy(held);
}

T(impossible_grids_are_refused)
{
    struct shmemx_grid none = { .groups = 0, .items = 1, .phases = 1 };
    struct shmemx_grid flat = { .groups = 1, .items = 0, .phases = 1 };
    struct shmemx_grid never = { .groups = 1, .items = 1, .phases = 0 };
    struct shmemx_grid large = none;

    large.groups = 1;
    large.scratch = 2 << 20;
    T_EQ(gtl->launch(&none, sum_up, NULL, some_stream), -EINVAL);
    T_EQ(gtl->launch(&flat, sum_up, NULL, some_stream), -EINVAL);
    T_EQ(gtl->launch(&never, sum_up, NULL, some_stream), -EINVAL);
    T_EQ(gtl->launch(&large, sum_up, NULL, some_stream), -EINVAL);
    T_HAS(gtl_error(), "1 MiB");
}

/* ---- memory ---- */

T(memory_ends_at_the_cap)
{
    size_t room, total;
    void *p = NULL, *q = &room;

    T_EQ(gtl_device.memory, 64 << 20);
    T_EQ(gtl->alloc(0, &q), -EINVAL);
    T_EQ(gtl->alloc((48 << 20) - 5, &p), 0);
    T_EQ(gtl->memory_info(&room, &total), 0);
    T_EQ(total, 64 << 20);
    T_EQ(room, 16 << 20);
    T_EQ(gtl->alloc((16 << 20) + 1, &q), -ENOMEM);
    T_EQ(q, &room);
    T_HAS(gtl_error(), "asked for 18.0 MiB; used 48.0 MiB of 64.0 MiB");
    T_HAS(gtl_error(), "SHMEM_DEVICE_MEMORY");
    T_EQ(gtl->alloc(16 << 20, &q), 0);
    gtl->free(q);
    gtl->free(p);
    T_EQ(gtl->memory_info(&room, &total), 0);
    T_EQ(room, 64 << 20);
}

T(odd_pages_are_not_pinned)
{
    char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *device = device_memory(PAGE), *seen = NULL;

    T_EQ(gtl->pin(p + 8, PAGE, GTL_PIN_MEMORY, &seen), -EINVAL);
    T_EQ(gtl->pin(p, PAGE + 8, GTL_PIN_MEMORY, &seen), -EINVAL);
    T_EQ(gtl->pin(p, 0, GTL_PIN_MEMORY, &seen), -EINVAL);
    T_EQ(gtl->pin(device, PAGE, GTL_PIN_MEMORY, &seen), -EEXIST);
    T_EQ(gtl->pin(p + PAGE, PAGE, GTL_PIN_MMIO, &seen), 0);
    T_EQ(seen, p + PAGE);
    T_EQ(gtl->pin(p, 4 * PAGE, GTL_PIN_MEMORY, &seen), -EEXIST);
    gtl->unpin(p + PAGE);
    gtl->unpin(p + PAGE);       /* nothing is there any more */
    munmap(p, 4 * PAGE);
    T_EQ(gtl->pin(p, PAGE, GTL_PIN_MEMORY, &seen), -EFAULT);
    gtl->free(device);
}

T(a_handle_opens_what_was_exported_and_nothing_else)
{
    int none;
    uint64_t *p = device_memory(PAGE), *q = NULL;
    struct gtl_ipc_handle h, bad;

    T_EQ(gtl->ipc_export(p + 1, &h, &none), -EINVAL);
    T_EQ(gtl->ipc_export(&h, &h, &none), -EINVAL);
    T_EQ(gtl->ipc_export(p, &h, &none), 0);
    if (T_EQ(gtl->ipc_open(&h, -1, (void **)&q), 0)) {
        T_NE(q, p);
        *p = 4711;
        T_EQ(*q, 4711);
        gtl->ipc_close(q);
    }
    /* Byte 4 might give a thread of this process, 12 to 15 mean nothing. */
    for (size_t i = 0; i < 56; i += i == 3 ? 2 : i == 11 ? 5 : 1) {
        bad = h;
        bad.bytes[i] ^= 0x11;
        q = NULL;
        T_LT(gtl->ipc_open(&bad, -1, (void **)&q), 0);
        T_EQ(q, NULL);
    }
    gtl->free(p);
    T_NE(gtl->ipc_open(&h, -1, (void **)&q), 0);
    T_NE(gtl_error()[0], '\0');
}

/* ---- misuse ---- */

T(nothing_is_done_on_a_destroyed_stream)
{
    struct shmemx_grid g = { .groups = 1, .items = 1, .phases = 1 };
    uint64_t word = 5, other = 6;
    struct gtl_blocks b = { 8, 1, 8, 8 };
    struct gtl_amo a = { .op = AMO_SET, .size = 8, .word = &word };
    void *s = new_stream(), *e = NULL;

    T_EQ(gtl->event_create(&e), 0);
    gtl->stream_destroy(s);
    gtl->stream_destroy(s);
    T_EQ(gtl->stream_query(s), -EINVAL);
    T_EQ(gtl->stream_sync(s), -EINVAL);
    T_EQ(gtl->copy(&word, &other, 8, s), -EINVAL);
    T_EQ(gtl->copy_blocks(&word, &other, &b, s), -EINVAL);
    T_EQ(gtl->fill(&word, 0, 8, s), -EINVAL);
    T_EQ(gtl->amo(&a, s), -EINVAL);
    T_EQ(gtl->write64(&word, 1, s), -EINVAL);
    T_EQ(gtl->wait64(&word, 1, s), -EINVAL);
    T_EQ(gtl->host_call(NULL, NULL, s), -EINVAL);
    T_EQ(gtl->launch(&g, add_one, NULL, s), -EINVAL);
    T_EQ(gtl->release(s), -EINVAL);
    T_EQ(gtl->event_record(e, s), -EINVAL);
    T_EQ(gtl->event_wait(e, s), -EINVAL);
    T_HAS(gtl_error(), "destroyed");
    T_EQ(word, 5);
    gtl->event_destroy(e);
}

T(words_and_atomics_must_be_aligned)
{
    char *odd = (char *)words.here + 4;
    struct gtl_amo a = { .op = AMO_ADD, .size = 8, .word = odd };

    T_EQ(gtl->write64((uint64_t *)(void *)odd, 1, some_stream), -EINVAL);
    T_EQ(gtl->wait64((uint64_t *)(void *)odd, 1, some_stream), -EINVAL);
    T_EQ(gtl->wait64(NULL, 1, some_stream), -EINVAL);
    T_EQ(gtl->amo(&a, some_stream), -EINVAL);
    a.size = 4;
    T_EQ(gtl->amo(&a, some_stream), 0);
    a.size = 2;
    T_EQ(gtl->amo(&a, some_stream), -EINVAL);
    T_EQ(gtl->stream_sync(some_stream), 0);
}

static char *closed_page;
static int faults;

static void open_page(int sig)
{
    (void)sig;
    faults++;
    if (mprotect(closed_page, PAGE, PROT_READ | PROT_WRITE))
        _exit(1);
}

T(a_fault_of_the_device_reaches_the_programs_handler)
{
    struct sigaction act = { .sa_handler = open_page }, old;

    closed_page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);
    T_TRUE(closed_page != MAP_FAILED);
    T_EQ(sigaction(SIGSEGV, &act, &old), 0);
    T_EQ(gtl->write64((uint64_t *)(void *)closed_page, 5, some_stream), 0);
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(sigaction(SIGSEGV, &old, NULL), 0);
    T_EQ(faults, 1);
    T_EQ(*(uint64_t *)(void *)closed_page, 5);
    munmap(closed_page, PAGE);
}

T(streams_end_at_a_limit_and_come_back)
{
    void *first = NULL, *s = NULL;
    int n = 0;

    T_EQ(gtl->stream_create(GTL_NORMAL, &first), 0);
    while (n < 5000 && gtl->stream_create(GTL_NORMAL, &s) == 0)
        n++;
    T_LT(4000, n);
    T_LT(n, 4096);
    T_HAS(gtl_error(), "4095 streams");
    gtl->stream_destroy(first);
    T_EQ(gtl->stream_create(GTL_NORMAL, &s), 0);
}

/* ---- costs ---- */

static int load_costs(const char *text)
{
    int rc;

    gtl_close();
    setenv("SHMEM_DEVICE_COSTS", text, 1);
    unit_capture();
    rc = env_load();
    if (!rc)
        rc = gtl_open(0);
    unit_captured();
    return rc;
}

/* The least of some tries: until it is below `enough`, or they are many. */
static double us_of(int kind, double enough)
{
    struct shmemx_grid g = { .groups = 1, .items = 1, .phases = 1 };
    struct timespec a, b;
    uint32_t sum = 0;
    double least = 1e9, us;

    set_word(0, 1);
    for (int i = 0; i < 100 && least > enough; i++) {
        T_EQ(gtl->stream_sync(NULL), 0);
        clock_gettime(CLOCK_MONOTONIC, &a);
        if (kind == 0)
            T_EQ(gtl->launch(&g, add_one, &sum, NULL), 0);
        else if (kind == 1)
            T_EQ(gtl->copy(words.here + 1, words.here, 8, NULL), 0);
        else if (kind == 2)
            T_EQ(gtl->write64(words.here + 1, 1, NULL), 0);
        else if (kind == 3)
            T_EQ(gtl->wait64(words.here, 1, NULL), 0);
        while (gtl->stream_query(NULL))
            pause_ms(20);
        if (kind == 4)
            T_EQ(gtl->stream_sync(NULL), 0);
        clock_gettime(CLOCK_MONOTONIC, &b);
        us = (double)(b.tv_sec - a.tv_sec) * 1e6 +
             (double)(b.tv_nsec - a.tv_nsec) / 1e3;
        if (us < least)
            least = us;
    }
    return least;
}

static void is_about(int kind, double us)
{
    double took = us_of(kind, us * 1.2);

    T_LE(us, took);
    T_LT(took, us * 2);
}

T(steps_take_as_long_as_set)
{
    T_EQ(load_costs("launch=2000,copy=3000.5,write=4000,wait=5000,sync=6000"),
         0);
    is_about(0, 2000);
    is_about(1, 3000.5);
    is_about(2, 4000);
    is_about(3, 5000);
    is_about(4, 6000);
    T_EQ(load_costs(""), 0);
    T_LT(us_of(1, 1000), 1000);
}

static void rung(void *arg)
{
    ++*(uint32_t *)arg;
}

/* The sum is exact, whatever the time. */
T(what_steps_are_charged_is_counted)
{
    struct shmemx_grid g = { .groups = 1, .items = 1, .phases = 1 };
    struct gtl_flag w[2] = { { words.here, 1 }, { words.here, 1 } };
    struct gtl_put p[3] = {
        { .flag = { words.here + 2, 1 } },
        { words.here + 1, words.here, 8, { words.here + 2, 2 } },
        { .flag = { words.here + 2, 3 } }
    };
    struct gtl_batch joined = { w, p, 2, 1 }, apart = { w, p, 2, 3 };
    struct gtl_batch stores = { NULL, p, 0, 3 };
    uint32_t sum = 0;
    uint64_t before;

    T_EQ(load_costs("launch=1.5,copy=2,write=0.1,wait=0.003,"
                    "doorbell=0.05,sync=0.6"), 0);
    set_word(0, 1);
    T_EQ(gtl->stream_sync(NULL), 0);
    before = gtl_charged_ns();
    for (int i = 0; i < 10; i++) {
        T_EQ(gtl->launch(&g, add_one, &sum, NULL), 0);
        T_EQ(gtl->copy(words.here + 1, words.here, 8, NULL), 0);
        T_EQ(gtl->write64(words.here + 1, 1, NULL), 0);
        T_EQ(gtl->wait64(words.here, 1, NULL), 0);
        T_EQ(gtl->doorbell(rung, &sum, NULL), 0);
    }
    T_EQ(gtl->stream_sync(NULL), 0);
    T_EQ(gtl_charged_ns() - before, 10 * (1500 + 2000 + 100 + 3 + 50) + 600);
    T_EQ(sum, 20);
    /* Steps cost what a GPU makes of them: waits and stores one step. */
    before = gtl_charged_ns();
    T_EQ(gtl->batch(&joined, NULL), 0);
    while (gtl->stream_query(NULL))
        pause_ms(20);
    T_EQ(gtl_charged_ns() - before, 3);
    T_EQ(gtl->batch(&apart, NULL), 0);
    while (gtl->stream_query(NULL))
        pause_ms(20);
    T_EQ(gtl_charged_ns() - before, 3 + 3 + 2000 + 100);
    T_EQ(gtl->batch(&stores, NULL), 0);
    while (gtl->stream_query(NULL))
        pause_ms(20);
    T_EQ(gtl_charged_ns() - before, 3 + 3 + 2000 + 100 + 2000 + 100);
    T_EQ(load_costs(""), 0);
    before = gtl_charged_ns();
    T_EQ(gtl->copy(words.here + 1, words.here, 8, NULL), 0);
    T_EQ(gtl->stream_sync(NULL), 0);
    T_EQ(gtl_charged_ns(), before);
}

T(costs_that_make_no_sense_are_reported)
{
    static const char *const bad[] = {
        "launch", "launch=", "launch=x", "jump=3", "launch=3;copy=4",
        "copy=-1", "copy=1e9", "copy=nan", "=3", "copy=1 ", "copy=1,,wait=2"
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        T_EQ(load_costs(bad[i]), -EINVAL);
        T_HAS(unit_state.text, "SHMEM_DEVICE_COSTS is \"");
        T_HAS(unit_state.text, " [S-E-ENV]\n");
        T_EQ(unit_lines(unit_state.text), 1);
    }
    T_EQ(load_costs("copy=1.5,wait=2,"), 0);
    T_EQ(load_costs(""), 0);
}

/* ---- the end of it ---- */

/* The thread sanitizer allows no threads there. */
static void open_again(void *s, int *word)
{
#ifndef __SANITIZE_THREAD__
    uint64_t id;

    T_EQ(gtl_open(0), 0);
    T_EQ(gtl->stream_check(s, &id), -EINVAL);
    T_EQ(gtl_fill_now(word, 2, sizeof *word), 0);
    T_EQ(*word, 0x02020202);
    gtl_close();
#else
    (void)s;
    (void)word;
#endif
}

T(a_forked_child_has_no_streams_until_it_opens_anew)
{
    void *s = new_stream();
    int status = -1, word = 0;
    uint64_t id;
    pid_t pid;

    if (getenv("T_EMULATED"))
        T_SKIP("the emulator starts no threads in a forked child");
    T_EQ(gtl->fill(&word, 1, sizeof word, s), 0);
    T_EQ(gtl->stream_sync(s), 0);
    pid = fork();
    if (pid == 0) {
        alarm(20);
        T_EQ(gtl->stream_check(s, &id), -ENODEV);
        T_EQ(gtl->stream_sync(NULL), -ENODEV);
        T_EQ(gtl_fill_now(&word, 2, sizeof word), -ENODEV);
        T_HAS(gtl_error(), "forked child");
        T_EQ(word, 0x01010101);
        gtl_close();
        open_again(s, &word);
        _exit(T_DONE());
    }
    waitpid(pid, &status, 0);
    T_EQ(status, 0);
    T_EQ(gtl->fill(&word, 3, sizeof word, s), 0);
    T_EQ(gtl->stream_sync(s), 0);
    T_EQ(word, 0x03030303);
    gtl->stream_destroy(s);
}

T(closing_ends_streams_that_wait)
{
    void *s = new_stream(), *t = new_stream(), *e = NULL;

    set_word(0, 0);
    set_word(1, 0);
    set_word(2, 0);
    T_EQ(gtl->event_create(&e), 0);
    T_EQ(gtl->write64(words.here + 2, 1, s), 0);
    T_EQ(gtl->wait64(words.here, 1, s), 0);
    T_EQ(gtl->write64(words.here + 1, 1, s), 0);
    T_EQ(gtl->event_record(e, s), 0);
    T_EQ(gtl->event_wait(e, t), 0);
    gtl->stream_destroy(s);
    gtl_close();
    T_EQ(get_word(2), 1);       /* before the wait: done; behind it: not */
    T_EQ(get_word(1), 0);
    T_EQ(gtl_open(0), 0);
    T_EQ(gtl->event_query(e), 0);
    gtl->event_destroy(e);
    T_EQ(gtl->write64(words.here + 1, 1, NULL), 0);
    T_EQ(gtl->stream_sync(NULL), 0);
    T_EQ(get_word(1), 1);
}

/* Its name until it was called what it is. */
T(host_is_another_name_of_the_software_device)
{
    static const char *const names[] = { "host", "software" };

    for (int i = 0; i < 2; i++) {
        gtl_close();
        setenv("SHMEM_DEVICE", names[i], 1);
        T_EQ(env_load(), 0);
        T_EQ(gtl_open(0), 0);
        T_TRUE(!strcmp(gtl->name, "software") && gtl_device.host_streams);
        T_TRUE(!gtl_pci_address(0, (char[16]){ "" }));
    }
}

int main(void)
{
    int status;

    if (!open_device(&status))
        return status;
    T_RUN(a_grid_runs_every_item_once_in_each_phase);
    T_RUN(groups_spread_over_the_cores);
    T_RUN(a_grid_ends_with_its_last_group);
    T_RUN(a_kernel_that_waits_holds_no_other_stream);
    T_RUN(impossible_grids_are_refused);
    T_RUN(memory_ends_at_the_cap);
    T_RUN(odd_pages_are_not_pinned);
    T_RUN(a_handle_opens_what_was_exported_and_nothing_else);
    T_RUN(nothing_is_done_on_a_destroyed_stream);
    T_RUN(words_and_atomics_must_be_aligned);
    T_RUN(a_fault_of_the_device_reaches_the_programs_handler);
    T_RUN(steps_take_as_long_as_set);
    T_RUN(what_steps_are_charged_is_counted);
    T_RUN(costs_that_make_no_sense_are_reported);
    T_RUN(a_forked_child_has_no_streams_until_it_opens_anew);
    T_RUN(closing_ends_streams_that_wait);
    T_RUN(streams_end_at_a_limit_and_come_back);
    T_RUN(host_is_another_name_of_the_software_device);
    gtl_close();
    return T_DONE();
}
