/* SPDX-License-Identifier: BSD-3-Clause */
/* The sources that the layers have registered.  The report, the watchdog and
 * the statistics walk the list.  A signal handler may read it at any time. */
#include "diag/diag_int.h"
#include "base/lock.h"

enum { MOST_SOURCES = 16 };

static const struct diag_source *sources[MOST_SOURCES];  /* atomic entries */
static unsigned n_sources;      /* atomic */
static struct base_lock lock = LOCK_INIT;       /* of who registers */

/* A handler that interrupts the shift sees one source twice, and never a hole:
 * the entries move up from the end. */
static void insert(const struct diag_source *s) REQUIRES(lock)
{
    unsigned n = n_sources, i = n;

    for (; i && sources[i - 1]->part > s->part; i--)
        __atomic_store_n(&sources[i], sources[i - 1], __ATOMIC_RELEASE);
    __atomic_store_n(&sources[i], s, __ATOMIC_RELEASE);
    /* release: pairs with diag_source(), which reads the entries next. */
    __atomic_store_n(&n_sources, n + 1, __ATOMIC_RELEASE);
}

/* Layers that open with their first use register on any thread. */
void diag_register(const struct diag_source *s)
{
    unsigned i = 0;

    lock_acquire(&lock);
    while (i < n_sources && sources[i] != s)
        i++;
    if (i == n_sources && n_sources < MOST_SOURCES)
        insert(s);
    lock_release(&lock);
}

const struct diag_source *diag_source(unsigned i)
{
    if (i >= __atomic_load_n(&n_sources, __ATOMIC_ACQUIRE))
        return NULL;
    return __atomic_load_n(&sources[i], __ATOMIC_ACQUIRE);
}

void diag_sources_clear(void)
{
    __atomic_store_n(&n_sources, 0, __ATOMIC_RELEASE);
}
