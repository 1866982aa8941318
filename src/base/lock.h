/* SPDX-License-Identifier: BSD-3-Clause */
/* lock.h - a mutex that clang's -Wthread-safety can follow. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#ifdef __clang__
#define LOCK_ATTR(x) __attribute__((x))
#else
#define LOCK_ATTR(x)
#endif
#define GUARDED_BY(x) LOCK_ATTR(guarded_by(x))
/* Of a member whose lock is a member, too: a statement for the reader, for in C
 * clang looks x up outside the structure. */
#define MEMBER_GUARDED_BY(x)
#define REQUIRES(x) LOCK_ATTR(requires_capability(x))

struct LOCK_ATTR(capability("mutex")) base_lock {
    pthread_mutex_t mutex;
};

#define LOCK_INIT { PTHREAD_MUTEX_INITIALIZER }

static inline void lock_acquire(struct base_lock *l)
    LOCK_ATTR(acquire_capability(l)) LOCK_ATTR(no_thread_safety_analysis)
{
    pthread_mutex_lock(&l->mutex);
}

/* False: another thread has it. */
static inline bool lock_try(struct base_lock *l)
    LOCK_ATTR(try_acquire_capability(true, l))
    LOCK_ATTR(no_thread_safety_analysis)
{
    return pthread_mutex_trylock(&l->mutex) == 0;
}

static inline void lock_release(struct base_lock *l)
    LOCK_ATTR(release_capability(l)) LOCK_ATTR(no_thread_safety_analysis)
{
    pthread_mutex_unlock(&l->mutex);
}

#endif
