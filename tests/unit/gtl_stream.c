/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: streams, words, calls and events of the device that
 * SHMEM_DEVICE chooses keep the order that gtl.h promises, and no other.
 * Light: most of its time it waits */
#include "gtl_test.h"

enum { MANY = 100 };

static uint64_t *device;

static void add_on(void *stream, uint64_t *word, uint64_t *result)
{
    struct gtl_amo a = {
        .op = AMO_ADD, .size = 8, .word = word, .value = 1, .result = result
    };

    T_EQ(gtl->amo(&a, stream), 0);
}

/* ---- order ---- */

T(a_stream_keeps_the_order_of_its_work)
{
    enum { STEPS = 300 };

    T_EQ(gtl->fill(device, 0, 4 * PAGE, some_stream), 0);
    for (int i = 0; i < STEPS; i++) {   /* each step needs the one before it */
        add_on(some_stream, device + 2 * i, device + 2 * i + 1);
        T_EQ(gtl->copy(device + 2 * i + 2, device + 2 * i, 8, some_stream), 0);
    }
    T_EQ(gtl->copy(words.there, device, 2 * STEPS * 8, some_stream), 0);
    T_EQ(gtl->stream_sync(some_stream), 0);
    for (int i = 0; i < STEPS; i++) {
        T_EQ(get_word(2 * i), (uint64_t)i + 1);
        T_EQ(get_word(2 * i + 1), (uint64_t)i);
    }
}

T(more_work_than_any_queue_holds_is_taken)
{
    enum { STEPS = 3000 };

    set_word(0, 0);
    T_EQ(gtl_fill_now(device, 0, 8), 0);
    T_EQ(gtl->wait64(words.there, 1, some_stream), 0);
    /* A queue of hardware may be full until the wait ends. */
    for (int i = 0; i < (is_host() ? STEPS : 100); i++)
        add_on(some_stream, device, NULL);
    set_word(0, 1);
    for (int i = is_host() ? STEPS : 100; i < STEPS; i++)
        add_on(some_stream, device, NULL);
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(device_word(device), STEPS);
}

T(a_blocked_stream_holds_no_other)
{
    void *held = new_stream(), *other = new_stream();

    set_word(0, 0);
    set_word(8, 0);
    T_EQ(gtl_fill_now(device, 0, 8), 0);
    T_EQ(gtl->wait64(words.there, 1, held), 0);
    T_EQ(gtl->write64(words.there + 8, 1, held), 0);
    add_on(other, device, NULL);
    T_EQ(gtl->stream_sync(other), 0);
    add_on(NULL, device, NULL);
    T_EQ(gtl->stream_sync(NULL), 0);
    T_EQ(device_word(device), 2);       /* by a stream of the library's */
    T_EQ(gtl->stream_query(held), -EAGAIN);
    T_EQ(get_word(8), 0);
    set_word(0, 1);
    T_EQ(gtl->stream_sync(held), 0);
    T_EQ(gtl->stream_query(held), 0);
    T_EQ(get_word(8), 1);
    gtl->stream_destroy(held);
    gtl->stream_destroy(other);
}

/* ---- words ---- */

T(streams_pass_messages_by_words)
{
    enum { ROUNDS = 200, BYTES = 256 };
    void *a = new_stream(), *b = new_stream();
    uint64_t *ping = device, *pong = device + 16, *data = device + 512,
             *copy = device + 1024;

    T_EQ(gtl_fill_now(device, 0, 4 * PAGE), 0);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        T_EQ(gtl->fill(data, (int)(i & 127), BYTES, a), 0);
        T_EQ(gtl->write64(ping, i, a), 0);
        T_EQ(gtl->wait64(pong, i, a), 0);
        T_EQ(gtl->wait64(ping, i, b), 0);
        T_EQ(gtl->copy(copy, data, BYTES, b), 0);
        T_EQ(gtl->copy(words.there + i, copy + 31, 8, b), 0);
        T_EQ(gtl->write64(pong, i, b), 0);
        if (!is_host() && i % 16 == 0)
            T_EQ(gtl->stream_sync(b), 0);
    }
    T_EQ(gtl->stream_sync(a), 0);
    T_EQ(gtl->stream_sync(b), 0);
    for (uint64_t i = 1; i <= ROUNDS; i++)
        T_EQ(get_word((int)i), (i & 127) * 0x0101010101010101);
    gtl->stream_destroy(a);
    gtl->stream_destroy(b);
}

T(a_wait_ends_at_its_value_or_above)
{
    static const uint64_t values[] = { 1, 77, (uint64_t)1 << 40 };

    for (int i = 0; i < 3; i++) {
        set_word(0, values[i] - 1);
        T_EQ(gtl->wait64(words.there, values[i], some_stream), 0);
        pause_ms(2000);
        T_EQ(gtl->stream_query(some_stream), -EAGAIN);
        set_word(0, values[i] + (uint64_t)i * 1000);
        T_TRUE(ends(some_stream));
        T_EQ(gtl->wait64(words.there, 0, some_stream), 0);
        T_TRUE(ends(some_stream));
    }
}

/* Where it takes a kernel, it is refused while other PEs want the device. */
T(a_wait_takes_no_time_from_other_PEs)
{
    int rc;

    set_word(0, 7);
    gtl_device.pes = 2;
    rc = gtl->wait64(words.there, 7, some_stream);
    gtl_device.pes = 1;
    T_EQ(rc, gtl_device.memops ? 0 : -ENOSYS);
    T_TRUE(ends(some_stream));
}

/* After the wait has gone to sleep. */
static void release_by(const char *what, uint64_t *word, void *by)
{
    static const uint64_t one = 1;

    T_EQ(gtl_fill_now(word, 0, 8), 0);
    T_EQ(gtl->wait64(word, 1, some_stream), 0);
    pause_ms(3000);
    T_EQ(gtl->stream_query(some_stream), -EAGAIN);
    if (!strcmp(what, "write"))
        T_EQ(gtl->write64(word, 1, by), 0);
    else if (!strcmp(what, "add"))
        add_on(by, word, NULL);
    else if (!strcmp(what, "copy"))
        T_EQ(gtl->copy(word, &one, 8, by), 0);
    else
        T_EQ(gtl->fill(word, 1, 1, by), 0);
    if (!T_TRUE(ends(some_stream)))
        fprintf(stderr, "  released by %s\n", what);
}

T(whatever_stores_the_word_ends_the_wait)
{
    static const char *const by[] = { "write", "add", "copy", "fill" };
    void *other = new_stream();

    for (int i = 0; i < 4; i++) {
        release_by(by[i], words.there, other);
        /* Copies are no kernels. */
        if (gtl_device.stale_waits && !strcmp(by[i], "copy"))
            continue;
        release_by(by[i], device, other);
        release_by(by[i], device, NULL);
    }
    T_EQ(gtl->stream_sync(other), 0);
    gtl->stream_destroy(other);
}

T(a_written_word_follows_all_before_it)
{
    unsigned char *p = (unsigned char *)(words.here + 512);

    for (uint64_t i = 1; i <= 50; i++) {
        T_EQ(gtl->fill(words.there + 512, (int)i, PAGE, some_stream), 0);
        T_EQ(gtl->write64(words.there, (uint64_t)1 << 32 | i, some_stream), 0);
        while (get_word(0) != ((uint64_t)1 << 32 | i))
            pause_ms(0);
        T_EQ(p[0], i);
        T_EQ(p[PAGE - 1], i);
        T_EQ(gtl->stream_sync(some_stream), 0);
    }
}

/* ---- calls ---- */

static int order[64], calls;

static void note(void *arg)
{
    order[calls++] = (int)(intptr_t)arg;
}

static void sample(void *arg)
{
    *(uint64_t *)arg = get_word(3);
}

/* Of so many: words to wait for, and puts, of which the odd ones only copy and
 * each third only notifies. */
static void try_steps(int n_waits, int n_puts)
{
    enum { MOST = 300, WAITS = 16, FROM = 1024, TO = 2048, NOTIFY = 4096 };
    struct gtl_flag waits[MOST];
    struct gtl_put puts[MOST];
    struct gtl_batch t = { waits, puts, (size_t)n_waits, (size_t)n_puts };
    int last = n_waits ? (int)(T_RAND() % (unsigned)n_waits) : 0;

    for (int i = 0; i < n_waits; i++) {
        set_word(WAITS + i, i == last ? 4 : 9);
        waits[i] = (struct gtl_flag){ words.there + WAITS + i, 5 };
    }
    for (int i = 0; i < n_puts; i++) {
        set_word(FROM + i, (uint64_t)i + 100);
        set_word(TO + i, 0);
        set_word(NOTIFY + i, 0);
        puts[i] = (struct gtl_put){
            words.there + TO + i, words.there + FROM + i, i % 3 ? 8 : 0,
            { i % 2 ? NULL : words.there + NOTIFY + i, (uint64_t)i + 1 }
        };
    }
    T_EQ(gtl->batch(&t, some_stream), 0);
    if (n_waits) {
        pause_ms(2000);
        T_EQ(gtl->stream_query(some_stream), -EAGAIN);
        for (int i = 0; i < n_puts; i++)
            T_TRUE(!get_word(TO + i) && !get_word(NOTIFY + i));
        set_word(WAITS + last, 5);
    }
    T_EQ(gtl->stream_sync(some_stream), 0);
    for (int i = 0; i < n_puts; i++) {
        T_EQ(get_word(TO + i), i % 3 ? (uint64_t)i + 100 : 0);
        T_EQ(get_word(NOTIFY + i), i % 2 ? 0 : (uint64_t)i + 1);
    }
}

T(several_steps_are_made_as_one_in_their_order)
{
    static const int n[] = { 0, 1, 2, 127, 128, 129, 256, 300 };

    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (size_t k = 0; k < sizeof n / sizeof *n; k++)
            try_steps(n[i], n[k]);
}

T(calls_run_in_order_and_see_what_was_done)
{
    uint64_t seen[20];

    calls = 0;
    for (intptr_t i = 0; i < 20; i++) {
        T_EQ(gtl->write64(words.there + 3, (uint64_t)i, some_stream), 0);
        T_EQ(gtl->host_call(sample, &seen[i], some_stream), 0);
        T_EQ(gtl->host_call(note, (void *)i, some_stream), 0);
    }
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(calls, 20);
    for (int i = 0; i < 20; i++) {
        T_EQ(order[i], i);
        T_EQ(seen[i], i);
    }
}

static void nothing(const struct shmemx_item *item, void *arg)
{
    (void)item;
    (void)arg;
}

T(only_the_software_device_runs_kernels_of_the_processor)
{
    struct shmemx_grid g = { .groups = 1, .items = 1, .phases = 1 };

    T_EQ(gtl->launch(&g, nothing, NULL, some_stream), is_host() ? 0 : -ENOTSUP);
    T_EQ(gtl->stream_sync(some_stream), 0);
}

T(fences_of_a_stream_and_of_the_device_succeed)
{
    T_EQ(gtl->release(some_stream), 0);
    T_EQ(gtl->stream_sync(some_stream), 0);
    /* Some drivers have no call for it. */
    T_TRUE(gtl->flush() == 0 || (!is_host() && gtl->flush() == -ENOSYS));
}

/* ---- events ---- */

T(an_event_is_what_was_recorded_last)
{
    void *a = new_stream(), *b = new_stream(), *e = NULL;

    T_EQ(gtl->event_create(&e), 0);
    T_EQ(gtl->event_query(e), 0);       /* not recorded: over */
    T_EQ(gtl->event_wait(e, b), 0);
    T_TRUE(ends(b));

    set_word(0, 0);
    set_word(8, 0);
    T_EQ(gtl->wait64(words.there, 1, a), 0);
    T_EQ(gtl->event_record(e, a), 0);
    T_EQ(gtl->event_query(e), -EAGAIN);
    T_EQ(gtl->event_wait(e, b), 0);
    T_EQ(gtl->write64(words.there + 8, 1, b), 0);
    /* What is recorded anew does not change who waits already. */
    T_EQ(gtl->event_record(e, some_stream), 0);
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(gtl->event_query(e), 0);
    pause_ms(2000);
    T_EQ(get_word(8), 0);
    T_EQ(gtl->stream_query(b), -EAGAIN);
    /* What comes after the record is not waited for. */
    T_EQ(gtl->event_record(e, a), 0);
    T_EQ(gtl->wait64(words.there, 2, a), 0);
    set_word(0, 1);
    T_TRUE(ends(b));
    T_EQ(get_word(8), 1);
    for (int i = 0; i < 2000 && gtl->event_query(e); i++)
        pause_ms(1000);
    T_EQ(gtl->event_query(e), 0);
    T_EQ(gtl->stream_query(a), -EAGAIN);
    gtl->event_destroy(e);
    set_word(0, 2);
    T_EQ(gtl->stream_sync(a), 0);
    gtl->stream_destroy(a);
    gtl->stream_destroy(b);
}

T(an_event_may_go_while_a_stream_waits_for_it)
{
    void *a = new_stream(), *e = NULL;

    set_word(0, 0);
    T_EQ(gtl->event_create(&e), 0);
    T_EQ(gtl->wait64(words.there, 1, a), 0);
    T_EQ(gtl->event_record(e, a), 0);
    T_EQ(gtl->event_wait(e, some_stream), 0);
    gtl->event_destroy(e);
    gtl->stream_destroy(a);
    pause_ms(1000);
    T_EQ(gtl->stream_query(some_stream), -EAGAIN);
    set_word(0, 1);
    T_TRUE(ends(some_stream));
}

T(who_sleeps_for_an_event_gets_up_with_it_or_in_time)
{
    enum { MS = 1000000 };
    void *a = new_stream(), *e = NULL;

    T_EQ(gtl->event_create(&e), 0);
    T_EQ(gtl->event_sleep(e, 3600000ull * MS), is_host());    /* not recorded */
    set_word(0, 0);
    T_EQ(gtl->wait64(words.there, 1, a), 0);
    T_EQ(gtl->event_record(e, a), 0);
    for (int i = 0; i < 3; i++) {
        T_EQ(gtl->event_sleep(e, (uint64_t)i * MS), is_host());
        T_EQ(gtl->event_query(e), -EAGAIN);
    }
    set_word(0, 1);
    T_EQ(gtl->event_sleep(e, 3600000ull * MS), is_host());
    T_TRUE(!is_host() || !gtl->event_query(e));
    T_EQ(gtl->event_sleep(e, 3600000ull * MS), is_host());
    T_EQ(gtl->stream_sync(a), 0);
    gtl->event_destroy(e);
    gtl->stream_destroy(a);
}

/* ---- handles ---- */

T(no_two_streams_have_the_same_number)
{
    uint64_t ids[MANY], id;
    void *s;

    T_EQ(gtl->stream_check(NULL, &ids[0]), 0);
    T_EQ(gtl->stream_check(some_stream, &ids[1]), 0);
    for (int i = 2; i < MANY; i++) {
        s = new_stream();
        T_EQ(gtl->stream_check(s, &ids[i]), 0);
        T_EQ(gtl->stream_check(s, &id), 0);
        T_EQ(id, ids[i]);
        if (i & 1)
            T_EQ(gtl->fill(device + 600, 0, 8, s), 0);
        gtl->stream_destroy(s);
        if (strcmp(gtl->name, "cuda")) {        /* whose driver would crash */
            T_EQ(gtl->stream_check(s, &id), -EINVAL);
            T_NE(gtl_error()[0], '\0');
        }
        T_EQ(id, ids[i]);
        for (int k = 0; k < i; k++)
            T_NE(ids[i], ids[k]);
    }
}

T(what_is_no_stream_is_found_out)
{
    uint64_t id = 99;

    T_EQ(gtl->stream_check((void *)(uintptr_t)0x5000, &id), -EINVAL);
    T_EQ(gtl->stream_check(&id, &id), -EINVAL);
    T_EQ(gtl->stream_check(device, &id), -EINVAL);
    T_EQ(id, 99);
}

T(a_destroyed_stream_finishes_its_work)
{
    void *s = new_stream();

    set_word(0, 0);
    set_word(8, 0);
    T_EQ(gtl_fill_now(device, 0, 8), 0);
    T_EQ(gtl->wait64(words.there, 1, s), 0);
    add_on(s, device, NULL);
    T_EQ(gtl->write64(words.there + 8, 1, s), 0);
    gtl->stream_destroy(s);
    T_EQ(get_word(8), 0);
    set_word(0, 1);
    for (int i = 0; i < 2000 && !get_word(8); i++)
        pause_ms(1000);
    T_EQ(get_word(8), 1);
    T_EQ(device_word(device), 1);
}

/* ---- rest ---- */

#ifdef __SANITIZE_THREAD__
#define MOST_MS 50.0
#else
#define MOST_MS 10.0            /* in a second: 1 % of a core */
#endif

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Of this process, per second; the least of some tries, for others share the
 * machine's caches: as many as it takes, up to a few seconds. */
static double cost_of_rest(void)
{
    double least = 1e9, start;

    for (int i = 0; i < 30 && (i < 4 || 5 * least >= MOST_MS); i++) {
        start = cpu_ms();
        pause_ms(200000);
        if (cpu_ms() - start < least)
            least = cpu_ms() - start;
    }
    return 5 * least;
}

T(streams_at_rest_cost_nothing)
{
    void *s[MANY];

    for (int i = 0; i < MANY; i++) {
        s[i] = new_stream();
        T_EQ(gtl->fill(device, 1, 64, s[i]), 0);
    }
    for (int i = 0; i < MANY; i++)
        T_EQ(gtl->stream_sync(s[i]), 0);
    pause_ms(50000);
    T_LT(cost_of_rest(), MOST_MS);
    for (int i = 0; i < MANY; i++)
        gtl->stream_destroy(s[i]);
}

T(streams_that_wait_cost_next_to_nothing)
{
    void *s[MANY];

    if (!is_host())
        T_SKIP("hardware may have less room for streams that wait");
    set_word(0, 0);
    for (int i = 0; i < MANY; i++) {
        s[i] = new_stream();
        T_EQ(gtl->wait64(words.there, 1, s[i]), 0);
    }
    pause_ms(200000);
    T_LT(cost_of_rest(), MOST_MS);
    set_word(0, 1);
    for (int i = 0; i < MANY; i++) {
        T_EQ(gtl->stream_sync(s[i]), 0);
        gtl->stream_destroy(s[i]);
    }
}

int main(void)
{
    int status;

    if (!open_device(&status))
        return status;
    device = device_memory(8 * PAGE);
    T_RUN(a_stream_keeps_the_order_of_its_work);
    T_RUN(more_work_than_any_queue_holds_is_taken);
    T_RUN(a_blocked_stream_holds_no_other);
    T_RUN(streams_pass_messages_by_words);
    T_RUN(a_wait_ends_at_its_value_or_above);
    T_RUN(a_wait_takes_no_time_from_other_PEs);
    T_RUN(whatever_stores_the_word_ends_the_wait);
    T_RUN(a_written_word_follows_all_before_it);
    T_RUN(several_steps_are_made_as_one_in_their_order);
    T_RUN(calls_run_in_order_and_see_what_was_done);
    T_RUN(only_the_software_device_runs_kernels_of_the_processor);
    T_RUN(fences_of_a_stream_and_of_the_device_succeed);
    T_RUN(an_event_is_what_was_recorded_last);
    T_RUN(who_sleeps_for_an_event_gets_up_with_it_or_in_time);
    T_RUN(an_event_may_go_while_a_stream_waits_for_it);
    T_RUN(no_two_streams_have_the_same_number);
    T_RUN(what_is_no_stream_is_found_out);
    T_RUN(a_destroyed_stream_finishes_its_work);
    T_RUN(streams_at_rest_cost_nothing);
    T_RUN(streams_that_wait_cost_next_to_nothing);
    gtl->free(device);
    close_device();
    return T_DONE();
}
