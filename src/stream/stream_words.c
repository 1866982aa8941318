/* SPDX-License-Identifier: BSD-3-Clause */
/* The words that device and progress thread share, in one piece of pinned
 * memory: queues take a place there and give it back. */
#include "stream/stream_queue.h"
#include "base/lock.h"

#include <errno.h>
#include <sys/mman.h>

static struct base_lock lock = LOCK_INIT;
static struct stream_words *words;      /* [STREAM_QUEUES] */
static bool pinned GUARDED_BY(lock);    /* the device knows of them */
static uint32_t spare[STREAM_QUEUES] GUARDED_BY(lock);
static unsigned n_spare GUARDED_BY(lock);

/* When the device opens, and not with the first queue: a stream may wait then,
 * and the driver for that stream.  The memory stays for good: streams that
 * the program has not waited for may look at it. */
void stream_words_open(void)
{
    size_t size = STREAM_QUEUES * sizeof *words;
    void *p, *seen;

    lock_acquire(&lock);
    if (!words) {
        p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        words = p == MAP_FAILED ? NULL : p;
        for (n_spare = 0; words && n_spare < STREAM_QUEUES; n_spare++)
            spare[n_spare] = STREAM_QUEUES - 1 - n_spare;
    }
    if (words && !gtl->pin(words, size, GTL_PIN_MEMORY, &seen)) {
        pinned = seen == words;
        if (!pinned)
            gtl->unpin(words);
    }
    if (!pinned)
        log_info(LOG_STREAM, "%zu bytes of host memory cannot be pinned: "
                 "streams do what the device reaches, and no more", size);
    lock_release(&lock);
}

int stream_words_take(struct stream_words **out)
{
    int rc;

    lock_acquire(&lock);
    rc = !pinned ? -ENODEV : !n_spare ? -ENOSPC : 0;
    if (!rc)
        *out = &words[spare[--n_spare]];
    lock_release(&lock);
    return rc;
}

void stream_words_give(struct stream_words *w)
{
    lock_acquire(&lock);
    spare[n_spare++] = (uint32_t)(w - words);
    lock_release(&lock);
}

void stream_words_close(void)
{
    lock_acquire(&lock);
    if (pinned)
        gtl->unpin(words);
    pinned = false;
    lock_release(&lock);
}
