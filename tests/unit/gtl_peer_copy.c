/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: of two streams that come to a round, the one that comes second
 * copies all bytes, whatever their number and alignment, and sets both flags;
 * the first one goes on at once. */
#include "gtl_test.h"

enum { MOST = 70000, ROOM = MOST + 64, TURNS = 0, WAS = 8, NOTIFIED = 32 };

static char want[ROOM], got[ROOM];
static char *places[2];         /* in the device's memory and in pinned one */
static void *streams[2];        /* of the sender and of the receiver */
static uint64_t rounds;         /* of the words; two turns each */

static int wakes;               /* atomic: of the software device */

static void woken(void *arg)
{
    __atomic_fetch_add((int *)arg, 1, __ATOMIC_RELAXED);
}

static struct gtl_peer_copy pair_of(char *to, const char *from, size_t n,
                                    int end)
{
    return (struct gtl_peer_copy){
        .arrivals = words.there + TURNS, .arrival = words.there + WAS + 8 * end,
        .to = to, .from = from, .n = n,
        .flags = { words.there + NOTIFIED, words.there + NOTIFIED + 8 },
        .wake = woken, .arg = &wakes
    };
}

static void come(char *to, const char *from, size_t n, int end)
{
    /* It lives until it has run. */
    static struct gtl_peer_copy recent[64];
    static unsigned at;
    struct gtl_peer_copy *p = &recent[at++ % 64];

    *p = pair_of(to, from, n, end);
    T_EQ(gtl->peer_copy(p, streams[end]), 0);
}

static void set_words(void)
{
    for (int i = TURNS; i <= NOTIFIED + 8; i += 8)
        set_word(i, 0);
    rounds = 0;
}

static bool notified(uint64_t round)
{
    return T_EQ(get_word(NOTIFIED), round) &&
           T_EQ(get_word(NOTIFIED + 8), round);
}

/* All of the room, to see what lies around the bytes, too. */
static void try(int to, int from, size_t n, int first)
{
    size_t to_at = T_RAND() % 2 ? T_RAND() % 17 : T_RAND() % 5 * 4;
    size_t from_at = T_RAND() % 2 ? T_RAND() % 17 : T_RAND() % 5 * 4;
    char *dest = places[to] + to_at, *source = places[from] + ROOM + from_at;

    for (size_t i = 0; i < ROOM; i++)
        got[i] = (char)T_RAND();
    T_EQ(gtl_copy_now(places[from] + ROOM, got, ROOM), 0);
    memset(want, 0x5a, ROOM);
    memcpy(want + to_at, got + from_at, n);
    T_EQ(gtl_fill_now(places[to], 0x5a, ROOM), 0);

    come(dest, source, n, first);
    T_EQ(gtl->stream_sync(streams[first]), 0);
    notified(rounds);
    T_EQ(gtl_copy_now(got, places[to], ROOM), 0);
    for (size_t i = 0; i < ROOM; i++)
        if (got[i] != 0x5a && !T_EQ(got[i], 0x5a))
            break;

    come(dest, source, n, !first);
    T_EQ(gtl->stream_sync(streams[!first]), 0);
    T_EQ(gtl_copy_now(got, places[to], ROOM), 0);
    if (!notified(++rounds) || !T_MEM(got, want, ROOM))
        fprintf(stderr, "  %zu bytes from %zu to %zu, place %d to %d, %s "
                "first\n", n, from_at, to_at, from, to,
                first ? "receiver" : "sender");
}

T(the_second_copies_and_notifies)
{
    static const size_t n[] = {
        0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 255, 256,
        1000, 4095, 4096, 4111, MOST
    };

    set_words();
    wakes = 0;
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (int k = 0; k < 8; k++)
            try(k & 1, k >> 1 & 1, n[i], k >> 2);
    T_EQ(wakes, is_host() ? rounds : 0);
}

/* Each alignment of each end. */
T(no_alignment_matters)
{
    set_words();
    for (int to = 0; to < 16; to++) {
        for (int from = 0; from < 16; from++) {
            T_EQ(gtl_fill_now(places[0], 0, 128), 0);
            for (int i = 0; i < 64; i++)
                want[i] = (char)(to * 16 + from + i);
            T_EQ(gtl_copy_now(places[0] + 256 + from, want, 64), 0);
            come(places[0] + 16 + to, places[0] + 256 + from, 53, 0);
            T_EQ(gtl->stream_sync(streams[0]), 0);
            come(places[0] + 16 + to, places[0] + 256 + from, 53, 1);
            T_EQ(gtl->stream_sync(streams[1]), 0);
            notified(++rounds);
            memset(got, 0, 128);
            memmove(want + 128, want, 64);
            memset(want, 0, 128);
            memcpy(want + 16 + to, want + 128, 53);
            T_EQ(gtl_copy_now(got, places[0], 128), 0);
            T_MEM(got, want, 128);
        }
    }
}

/* Whichever comes first by chance, often both at a time: the bytes are those
 * of the sender's stream before it came, and what is behind the announced word
 * sees
 * them. */
T(streams_may_come_at_the_same_time)
{
    enum { ROUNDS = 60, TRIGGER = 128, N = 5000 };
    char *source = places[0] + ROOM, *dest = places[0];

    set_words();
    for (int k = 1; k <= ROUNDS; k++) {
        uint64_t by = T_RAND() % 3;

        set_word(TRIGGER, 0);
        set_word(TRIGGER + 8, 0);
        T_EQ(gtl->wait64(words.there + TRIGGER, 1, streams[0]), 0);
        T_EQ(gtl->fill(source, k, N, streams[0]), 0);
        come(dest, source, N, 0);
        T_EQ(gtl->wait64(words.there + TRIGGER + 8, 1, streams[1]), 0);
        come(dest, source, N, 1);
        T_EQ(gtl->wait64(words.there + NOTIFIED, (uint64_t)k, streams[1]), 0);
        T_EQ(gtl->copy(places[1], dest, N, streams[1]), 0);
        set_word(TRIGGER + (by == 1 ? 8 : 0), 1);
        if (by < 2)
            pause_ms((long)(T_RAND() % 300));
        set_word(TRIGGER + (by == 1 ? 0 : 8), 1);
        T_EQ(gtl->stream_sync(streams[0]), 0);
        T_EQ(gtl->stream_sync(streams[1]), 0);
        T_EQ(get_word(TURNS), 2 * (uint64_t)k);
        notified((uint64_t)k);
        memset(want, k, N);
        T_MEM(places[1], want, N);
    }
}

T(without_kernels_nothing_is_begun)
{
    const struct gtl_peer_copy p = pair_of(places[0], places[1], 8, 0);

    set_words();
    T_EQ(gtl->peer_copy(&p, streams[0]), -ENOSYS);
    T_EQ(gtl->stream_sync(streams[0]), 0);
    T_EQ(get_word(TURNS), 0);
}

static void *pinned_room(void)
{
    const size_t size = (2 * (size_t)ROOM + PAGE - 1) / PAGE * PAGE;
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *seen = NULL;

    if (p == MAP_FAILED || gtl->pin(p, size, GTL_PIN_MEMORY, &seen) ||
        seen != p) {
        fprintf(stderr, "no pinned memory: %s\n", gtl_error());
        exit(1);
    }
    return p;
}

int main(void)
{
    int status;

    if (!open_device(&status))
        return status;
    places[0] = device_memory(2 * (size_t)ROOM);
    places[1] = pinned_room();
    streams[0] = new_stream();
    streams[1] = new_stream();
    if (is_host() || gtl_device.kernels) {
        T_RUN(the_second_copies_and_notifies);
        T_RUN(no_alignment_matters);
        T_RUN(streams_may_come_at_the_same_time);
    } else {
        T_RUN(without_kernels_nothing_is_begun);
    }
    gtl->stream_destroy(streams[0]);
    gtl->stream_destroy(streams[1]);
    gtl->free(places[0]);
    gtl->unpin(places[1]);
    close_device();
    return T_DONE();
}
