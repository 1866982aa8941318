/* SPDX-License-Identifier: BSD-3-Clause */
/* What the processor does in the order of a stream, on a thread of the
 * driver: atomics on words in host memory, where those of the device would be
 * none for the processor, and fills of memory that the device does not know.
 * Such a function calls nothing of the driver. */
#include "gtl/gtl_cuda_int.h"
#include "base/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Pinned words for old values on their way to device memory: one is taken
 * when the atomic is enqueued and free again after the copy. */
enum { SLOTS = 4096, SLOTS_SIZE = SLOTS * sizeof(uint64_t) };
static struct base_lock lock = LOCK_INIT;
static uint64_t *slots;
static uint16_t unused[SLOTS] GUARDED_BY(lock);
static int n_unused GUARDED_BY(lock);

int gtl_cu_host_open(void)
{
    void *p, *seen;
    int rc;

    p = mmap(NULL, SLOTS_SIZE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return gtl_fail(-ENOMEM, "mmap", strerror(errno), errno);
    rc = gtl_cu_pin(p, SLOTS_SIZE, GTL_PIN_MEMORY, &seen);
    if (rc) {
        munmap(p, SLOTS_SIZE);
        return rc;
    }
    slots = p;
    lock_acquire(&lock);
    for (n_unused = 0; n_unused < SLOTS; n_unused++)
        unused[n_unused] = (uint16_t)n_unused;
    lock_release(&lock);
    return 0;
}

void gtl_cu_host_close(void)
{
    gtl_cu_unpin(slots);
    munmap(slots, SLOTS_SIZE);
    slots = NULL;
}

static uint64_t *take_slot(void)
{
    uint64_t *slot = NULL;

    lock_acquire(&lock);
    if (n_unused)
        slot = &slots[unused[--n_unused]];
    lock_release(&lock);
    return slot;
}

static void give_slot(void *slot)
{
    lock_acquire(&lock);
    unused[n_unused++] = (uint16_t)((uint64_t *)slot - slots);
    lock_release(&lock);
}

static void *copy_of(const void *p, size_t size)
{
    void *own = malloc(size);

    if (own)
        memcpy(own, p, size);
    else
        gtl_fail(-ENOMEM, "malloc", strerror(ENOMEM), ENOMEM);
    return own;
}

struct fill {
    void *to;
    int byte;
    size_t n;
};

static void fill(void *arg)
{
    struct fill *f = arg;

    memset(f->to, f->byte, f->n);
    free(f);
}

int gtl_cu_host_fill(void *to, int byte, size_t n, void *s)
{
    struct fill *f = copy_of(&(struct fill){ to, byte, n }, sizeof *f);
    int rc;

    if (!f)
        return -ENOMEM;
    rc = gtl_cu_call(fill, f, s);
    if (rc)
        free(f);
    return rc;
}

#define APPLY(T, a, was) do {                                              \
    T *w_ = (a)->word, v_ = (T)(a)->value, c_ = (T)(a)->cond;               \
    switch ((a)->op) {                                                      \
    case GTL_FETCH:                                                         \
        was = __atomic_load_n(w_, __ATOMIC_SEQ_CST);                        \
        break;                                                              \
    case GTL_SET:                                                           \
    case GTL_SWAP:                                                          \
        was = __atomic_exchange_n(w_, v_, __ATOMIC_SEQ_CST);                \
        break;                                                              \
    case GTL_CSWAP:                                                         \
        __atomic_compare_exchange_n(w_, &c_, v_, false, __ATOMIC_SEQ_CST,   \
                                    __ATOMIC_SEQ_CST);                      \
        was = c_;                                                           \
        break;                                                              \
    case GTL_ADD:                                                           \
        was = __atomic_fetch_add(w_, v_, __ATOMIC_SEQ_CST);                 \
        break;                                                              \
    case GTL_AND:                                                           \
        was = __atomic_fetch_and(w_, v_, __ATOMIC_SEQ_CST);                 \
        break;                                                              \
    case GTL_OR:                                                            \
        was = __atomic_fetch_or(w_, v_, __ATOMIC_SEQ_CST);                  \
        break;                                                              \
    case GTL_XOR:                                                           \
        was = __atomic_fetch_xor(w_, v_, __ATOMIC_SEQ_CST);                 \
        break;                                                              \
    }                                                                       \
} while (0)

static void apply(void *arg)
{
    struct gtl_amo *a = arg;
    uint32_t was4 = 0;
    uint64_t was8 = 0;

    if (a->size == 4)
        APPLY(uint32_t, a, was4);
    else
        APPLY(uint64_t, a, was8);
    if (a->result && a->size == 4)
        memcpy(a->result, &was4, 4);
    else if (a->result)
        memcpy(a->result, &was8, 8);
    free(a);
}

static int enqueue(const struct gtl_amo *a, void *result, void *s)
{
    struct gtl_amo *own = copy_of(a, sizeof *a);
    int rc;

    if (!own)
        return -ENOMEM;
    own->result = result;
    rc = gtl_cu_call(apply, own, s);
    if (rc)
        free(own);
    return rc;
}

/* The old value goes to device memory by way of a pinned word. */
static int enqueue_far(const struct gtl_amo *a, void *s)
{
    uint64_t *slot = take_slot();
    int rc, copied;

    if (!slot)
        return gtl_fail(-EAGAIN, "amo", "too many results are on their way",
                        SLOTS);
    rc = enqueue(a, slot, s);
    if (rc) {
        give_slot(slot);
        return rc;
    }
    copied = gtl_cu_copy(a->result, slot, (size_t)a->size, s);
    rc = gtl_cu_call(give_slot, slot, s);
    return copied ? copied : rc;
}

int gtl_cu_host_amo(const struct gtl_amo *a, void *s)
{
    struct gtl_range r;
    int rc;

    if (!a->result)
        return enqueue(a, NULL, s);
    rc = gtl_cu_classify(a->result, &r);
    if (rc)
        return rc;
    return r.kind == GTL_DEVICE ? enqueue_far(a, s)
                                : enqueue(a, a->result, s);
}
