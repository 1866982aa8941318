/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: records of what streams wait for: one for each handle, gone
 * with its stream; of streams whose end is not announced, those without a wait
 * go first; a wait that is not over is found. */
#include "unit.h"

#include "stream/stream_wait_log.h"

enum { MANY = 40000 };

static uint64_t over_word = 1, open_word;

static void *handle(int i)
{
    return (void *)((uintptr_t)0x10000 + (uintptr_t)i * 64);
}

static void wait_for(void *stream, uint64_t *word)
{
    const struct stream_wait_log_entry note = {
        .call = "a_call", .sym = word, .word = word, .least = 1, .pe = -1
    };

    stream_wait_log_add(stream, &note);
}

static unsigned used(void)
{
    unsigned now, made;

    stream_wait_log_count(&now, &made);
    return now;
}

static unsigned made(void)
{
    unsigned now, all;

    stream_wait_log_count(&now, &all);
    return all;
}

/* The records in which something is waited for. */
static unsigned waits(void **stream)
{
    unsigned n = 0;

    for (struct stream_wait_log *s = stream_wait_log_first(); s; s = s->next) {
        struct stream_wait_log_entry note;
        uint64_t i;

        if (!s->key || !stream_wait_log_find(s, s->key, NULL, 0, &i, &note))
            continue;
        n++;
        *stream = stream_wait_log_stream(s->key);
    }
    return n;
}

T(a_record_goes_with_its_stream)
{
    for (int i = 0; i < MANY; i++) {
        wait_for(handle(i), &open_word);
        T_EQ(used(), 1);
        stream_wait_log_stream_destroyed(handle(i));
    }
    T_EQ(used(), 0);
    T_LE(made(), 1);
}

T(a_wait_that_is_not_over_is_found)
{
    void *stream = NULL;

    for (int i = 0; i < 10; i++)
        wait_for(handle(i), &over_word);
    wait_for(NULL, &over_word);         /* the default stream */
    T_EQ(waits(&stream), 0);
    wait_for(NULL, &open_word);
    T_EQ(waits(&stream), 1);
    T_TRUE(stream == NULL);
    stream_wait_log_completed(NULL);
    T_EQ(waits(&stream), 0);
    for (int i = 0; i < 10; i++)
        stream_wait_log_stream_destroyed(handle(i));
    stream_wait_log_stream_destroyed(NULL);
    T_EQ(used(), 0);
}

T(streams_whose_end_is_not_known_take_bounded_room)
{
    void *stream = NULL;

    wait_for(handle(MANY), &open_word);
    for (int i = 0; i < MANY; i++) {
        wait_for(handle(i), &over_word);
        T_LE(used(), STREAM_WAIT_LOGS + 1);
    }
    T_LE(made(), STREAM_WAIT_LOGS + 1);
    T_EQ(waits(&stream), 1);            /* the oldest, and still there */
    T_TRUE(stream == handle(MANY));
    stream_wait_log_close();
}

/* A thread's last record may serve another stream by now. */
T(a_note_comes_to_its_own_stream)
{
    void *stream = NULL;

    wait_for(handle(1), &over_word);
    stream_wait_log_stream_destroyed(handle(1));
    wait_for(handle(2), &over_word);
    wait_for(handle(1), &open_word);
    T_EQ(waits(&stream), 1);
    T_TRUE(stream == handle(1));
}

T(flags_whose_memory_goes_are_waited_for_no_more)
{
    uint64_t *flags = calloc(4, sizeof *flags);
    void *stream;

    T_TRUE(flags != NULL);
    stream_wait_log_close();
    wait_for(handle(1), &flags[1]);
    wait_for(handle(2), &open_word);
    T_EQ(waits(&stream), 2);
    stream_wait_log_forget(flags, 4 * sizeof *flags);
    free(flags);
    T_EQ(waits(&stream), 1);
    T_TRUE(stream == handle(2));
    stream_wait_log_close();
}

int main(void)
{
    T_RUN(a_record_goes_with_its_stream);
    T_RUN(a_wait_that_is_not_over_is_found);
    T_RUN(streams_whose_end_is_not_known_take_bounded_room);
    T_RUN(a_note_comes_to_its_own_stream);
    T_RUN(flags_whose_memory_goes_are_waited_for_no_more);
    return T_DONE();
}
