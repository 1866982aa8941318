/* SPDX-License-Identifier: BSD-3-Clause */

/* shmemx_dev_wait.h - waits and tests of kernels.  A part of shmemx_dev.h.
 *
 * Semantics are those of the OpenSHMEM 1.6 call of the name (section 9.10): for
 * words of this PE's symmetric memory, which other PEs change by AMOs, signals,
 * p, or puts of the word; cmp is SHMEM_CMP_...  After the wait the data that
 * came before the value are visible to the threads of the call. */
SHMEMI_DEV shmemi_u64 shmemi_dev_word(const void *p, unsigned size)
{
    return size == 8   ? shmemi_dev_load_64(p)
           : size == 4 ? shmemi_dev_load_32(p)
                       : shmemi_dev_load_16(p);
}

/* Both are zero-extended words of that size. */
SHMEMI_DEV int shmemi_dev_compare(shmemi_u64 is, int cmp, shmemi_u64 value,
                                  unsigned size, int is_signed)
{
    shmemi_u64 flip = is_signed ? (shmemi_u64)1 << (8 * size - 1) : 0;

    is ^= flip;
    value ^= flip;
    switch (cmp) {
    case SHMEM_CMP_EQ: return is == value;
    case SHMEM_CMP_NE: return is != value;
    case SHMEM_CMP_GT: return is > value;
    case SHMEM_CMP_GE: return is >= value;
    case SHMEM_CMP_LT: return is < value;
    default: return is <= value;
    }
}

/* Orders the caller's later loads behind the load that saw the value. */
SHMEMI_DEV void shmemi_dev_acquired(void)
{
#if defined(SHMEMI_DEV_C) && defined(__SANITIZE_THREAD__)
    /* Thread sanitizer knows no fences; the load was an acquire. */
#elif defined(SHMEMI_DEV_C)
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
#else
    shmemi_dev_fence();
#endif
}

/* *is: what was compared. */
SHMEMI_DEV int shmemi_dev_test_seen(const void *p, unsigned size,
                                    int is_signed, int cmp, shmemi_u64 value,
                                    shmemi_u64 *is)
{
    int yes;

#ifdef SHMEMI_DEV_C
    *is = size == 8   ? __atomic_load_n((const shmemi_u64 *)p,
                                        __ATOMIC_ACQUIRE)
          : size == 4 ? __atomic_load_n((const shmemi_u32 *)p,
                                        __ATOMIC_ACQUIRE)
                      : __atomic_load_n((const unsigned short *)p,
                                        __ATOMIC_ACQUIRE);
    yes = shmemi_dev_compare(*is, cmp, value, size, is_signed);
#else
    *is = shmemi_dev_word(p, size);
    yes = shmemi_dev_compare(*is, cmp, value, size, is_signed);
    if (yes)
        shmemi_dev_acquired();
#endif
    return yes;
}

SHMEMI_DEV int shmemi_dev_test(const void *p, unsigned size, int is_signed,
                               int cmp, shmemi_u64 value)
{
    shmemi_u64 is;

    return shmemi_dev_test_seen(p, size, is_signed, cmp, value, &is);
}

/* A wait that lasts records itself for the watchdog: the word, its size, what it
 * is to compare with.  The place is that of the block; one wait uses it. */
typedef struct shmemi_dev_record {
    shmemi_u64 word;            /* 0: free */
    shmemi_u64 value;
    shmemi_u32 size, cmp;       /* cmp: 16 more where the word is signed */
    shmemi_u32 call, raiser;    /* raiser: world PE + 1, or 0 */
    shmemi_u64 spare[4];
} shmemi_dev_record;
enum { SHMEMI_DEV_RECORDS = 64 };

/* What a wait is for.  raiser: the world PE that raises the word, + 1; 0: it is
 * not known. */
typedef struct shmemi_dev_for {
    unsigned size;
    int is_signed, cmp;
    shmemi_u64 value;
    enum shmemi_dev_call call;
    unsigned raiser;
} shmemi_dev_for;

#ifndef SHMEMI_DEV_C
SHMEMI_DEV_SLOW shmemi_u64 shmemi_dev_wait_long(const struct shmemx_dev *d,
                                                const void *p,
                                                shmemi_dev_for f)
{
    shmemi_dev_record *record = (shmemi_dev_record *)d->records +
                                shmemi_dev_block_id() % SHMEMI_DEV_RECORDS;
    shmemi_u32 turn = 0;
    shmemi_u64 is;
    int mine = 0;

    while (!shmemi_dev_test_seen(p, f.size, f.is_signed, f.cmp, f.value,
                                 &is)) {
        shmemi_dev_relax(turn++);
        if (turn == 65536 && d->records && !shmemi_dev_load_64(&record->word)) {
            mine = 1;
            shmemi_dev_store_64(&record->value, f.value);
            shmemi_dev_store_32(&record->size, f.size);
            shmemi_dev_store_32(&record->cmp,
                                (shmemi_u32)f.cmp + 16 * !!f.is_signed);
            shmemi_dev_store_32(&record->call, (shmemi_u32)f.call);
            shmemi_dev_store_32(&record->raiser, f.raiser);
            shmemi_dev_release_64(&record->word, (shmemi_u64)p);
        }
    }
    if (mine)
        shmemi_dev_store_64(&record->word, 0);
    return is;
}
#endif

/* With SHMEM_CHECK=1: the word is symmetric and aligned, and the comparison one
 * of the six, or the host ends the job. */
SHMEMI_DEV_SLOW void shmemi_dev_check_wait(const struct shmemx_dev *d,
                                           const void *p, unsigned size,
                                           int cmp)
{
    shmemi_dev_position t;
    int seg;

    for (seg = 0; seg < SHMEMI_DEV_SEGS; seg++)
        if ((shmemi_u64)p - d->base[seg] < d->size[seg] &&
            (shmemi_u64)p % size == 0 && cmp >= SHMEM_CMP_EQ &&
            cmp <= SHMEM_CMP_LE)
            return;
    t = shmemi_dev_push(d, SHMEMI_DEV_HEAD(SHMEMI_DEV_REFUSE,
                                           SHMEMI_DEV_WRONG_WAIT,
                                           SHMEMI_DEV_CALL_WAIT, size),
                        0, p, 0, size, (shmemi_u64)cmp, 0, 0);
    shmemi_dev_await_done(d, t);
}

/* Returns the value that ended the wait to the first thread, and 0 to others. */
SHMEMI_DEV shmemi_u64 shmemi_dev_wait_for(const struct shmemx_dev *d,
                                          const void *p, shmemi_dev_for f,
                                          enum shmemi_dev_scope scope)
{
    shmemi_u64 is = 0;
    shmemi_u32 i;

    if (!shmemi_dev_takes_part(d, scope))
        return 0;
    if (d->magic != SHMEMI_DEV_MAGIC)
        shmemi_dev_no_state(d, f.call);
    if (shmemi_dev_rank(scope) == 0) {
        if (!SHMEMI_DEV_LIKELY(!(d->flags & SHMEMI_DEV_CHECK)))
            shmemi_dev_check_wait(d, p, f.size, f.cmp);
        for (i = 0; i < 32; i++) {
            if (shmemi_dev_test_seen(p, f.size, f.is_signed, f.cmp, f.value,
                                     &is))
                break;
            shmemi_dev_relax(0);
        }
        if (i == 32)
#ifdef SHMEMI_DEV_C
            is = d->host->wait(p, &f);
#else
            is = shmemi_dev_wait_long(d, p, f);
#endif
    }
    if (scope != SHMEMI_DEV_THREAD) {
        shmemi_dev_barrier(scope);
        shmemi_dev_acquired();
    }
    return is;
}

SHMEMI_DEV shmemi_u64 shmemi_dev_wait(const struct shmemx_dev *d,
                                      const void *p, unsigned size,
                                      int is_signed, int cmp, shmemi_u64 value,
                                      enum shmemi_dev_scope scope)
{
    shmemi_dev_for f;

    f.size = size;
    f.is_signed = is_signed;
    f.cmp = cmp;
    f.value = value;
    f.call = SHMEMI_DEV_CALL_WAIT;
    f.raiser = 0;
    return shmemi_dev_wait_for(d, p, f, scope);
}

/* The first thread's answer, for all threads of the scope. */
SHMEMI_DEV int shmemi_dev_test_of(const struct shmemx_dev *d, const void *p,
                                  unsigned size, int is_signed, int cmp,
                                  shmemi_u64 value,
                                  enum shmemi_dev_scope scope)
{
    int part, yes = 0;

    part = shmemi_dev_takes_part(d, scope);
    if (part && shmemi_dev_rank(scope) == 0)
        yes = shmemi_dev_test(p, size, is_signed, cmp, value);
    if (scope == SHMEMI_DEV_THREAD)
        return yes;
    yes = (int)shmemi_dev_share(d, scope, part, (shmemi_u64)yes);
    shmemi_dev_acquired();
    return yes;
}

/* ---- several words ---- */

/* n variables; those whose status is not 0 are left out.  values NULL: all are
 * compared with value. */
typedef struct shmemi_dev_set {
    const char *ivars;
    size_t n;
    const int *status;
    const char *values;
    shmemi_u64 value;
    unsigned size;
    int is_signed, cmp;
} shmemi_dev_set;

SHMEMI_DEV shmemi_dev_set shmemi_dev_set_of(const void *ivars, size_t n,
                                            const int *status, unsigned size,
                                            int is_signed, int cmp,
                                            const void *values,
                                            shmemi_u64 value)
{
    shmemi_dev_set s;

    s.ivars = (const char *)ivars;
    s.n = n;
    s.status = status;
    s.values = (const char *)values;
    s.value = value;
    s.size = size;
    s.is_signed = is_signed;
    s.cmp = cmp;
    return s;
}

SHMEMI_DEV shmemi_u64 shmemi_dev_set_value(const shmemi_dev_set *s, size_t i)
{
    return s->values ? shmemi_dev_word(s->values + i * s->size, s->size)
                     : s->value;
}

SHMEMI_DEV int shmemi_dev_set_test(const shmemi_dev_set *s, size_t i)
{
    return shmemi_dev_test(s->ivars + i * s->size, s->size, s->is_signed,
                           s->cmp, shmemi_dev_set_value(s, i));
}

/* A turn of a loop that waits for any of them, and its end. */
SHMEMI_DEV void shmemi_dev_set_pause(const struct shmemx_dev *d,
                                     const shmemi_dev_set *s, shmemi_u32 turn)
{
#ifdef SHMEMI_DEV_C
    d->host->wait_set(s, turn);
#else
    (void)s;
    (void)d;
    shmemi_dev_relax(turn);
#endif
}

SHMEMI_DEV void shmemi_dev_set_over(const struct shmemx_dev *d,
                                    shmemi_u32 turns)
{
#ifdef SHMEMI_DEV_C
    if (turns)
        d->host->wait_set(0, turns);
#else
    (void)d;
    (void)turns;
#endif
}

/* The first word that compares so, or n; *left: is any word not left out? */
SHMEMI_DEV size_t shmemi_dev_set_any(const shmemi_dev_set *s, int *left)
{
    size_t i;

    *left = 0;
    for (i = 0; i < s->n; i++) {
        if (s->status && s->status[i])
            continue;
        *left = 1;
        if (shmemi_dev_set_test(s, i))
            return i;
    }
    return s->n;
}

/* The numbers of those that compare so, into indices: how many. */
SHMEMI_DEV size_t shmemi_dev_set_some(const shmemi_dev_set *s, size_t *indices,
                                      int *left)
{
    size_t i, found = 0;

    *left = 0;
    for (i = 0; i < s->n; i++) {
        if (s->status && s->status[i])
            continue;
        *left = 1;
        if (shmemi_dev_set_test(s, i))
            indices[found++] = i;
    }
    return found;
}

SHMEMI_DEV int shmemi_dev_set_all(const shmemi_dev_set *s)
{
    size_t i;

    for (i = 0; i < s->n; i++)
        if (!(s->status && s->status[i]) && !shmemi_dev_set_test(s, i))
            return 0;
    return 1;
}

SHMEMI_DEV void shmemi_dev_wait_all(const struct shmemx_dev *d,
                                    shmemi_dev_set s)
{
    size_t i;

    for (i = 0; i < s.n; i++)
        if (!(s.status && s.status[i]))
            shmemi_dev_wait(d, s.ivars + i * s.size, s.size, s.is_signed,
                            s.cmp, shmemi_dev_set_value(&s, i),
                            SHMEMI_DEV_THREAD);
}

SHMEMI_DEV size_t shmemi_dev_wait_any(const struct shmemx_dev *d,
                                      shmemi_dev_set s)
{
    shmemi_u32 turn = 0;
    size_t i;
    int left;

    while (i = shmemi_dev_set_any(&s, &left), i == s.n && left)
        shmemi_dev_set_pause(d, &s, turn++);
    shmemi_dev_set_over(d, turn);
    return i < s.n ? i : (size_t)-1;
}

SHMEMI_DEV size_t shmemi_dev_wait_some(const struct shmemx_dev *d,
                                       shmemi_dev_set s, size_t *indices)
{
    shmemi_u32 turn = 0;
    size_t found;
    int left;

    while (found = shmemi_dev_set_some(&s, indices, &left), !found && left)
        shmemi_dev_set_pause(d, &s, turn++);
    shmemi_dev_set_over(d, turn);
    return found;
}

/* ---- calls ---- */

#define SHMEMI_DEV_SIGNED(T) ((T)-1 < (T)1)
#define SHMEMI_DEV_ZEXT(T, v)                                               \
    ((shmemi_u64)(v) & (~(shmemi_u64)0 >> (64 - 8 * sizeof(T))))

/* shmemx_dev_TYPENAME_wait_until, shmemx_dev_TYPENAME_test, each also with
 * _warp and _block behind it. */
#define SHMEMI_DEV_WAIT_IN(NAME, T, SCOPE_NAME, SCOPE)                      \
    SHMEMI_DEV void shmemx_dev_##NAME##_wait_until##SCOPE_NAME(             \
        const shmemx_dev_t *dev, const T *ivar, int cmp, T cmp_value)       \
    {                                                                       \
        shmemi_dev_wait(dev, ivar, sizeof(T), SHMEMI_DEV_SIGNED(T), cmp,    \
                        SHMEMI_DEV_ZEXT(T, cmp_value), SCOPE);              \
    }                                                                       \
    SHMEMI_DEV int shmemx_dev_##NAME##_test##SCOPE_NAME(                    \
        const shmemx_dev_t *dev, const T *ivar, int cmp, T cmp_value)       \
    {                                                                       \
        return shmemi_dev_test_of(dev, ivar, sizeof(T),                     \
                                  SHMEMI_DEV_SIGNED(T), cmp,                \
                                  SHMEMI_DEV_ZEXT(T, cmp_value), SCOPE);    \
    }
#define SHMEMI_DEV_WAIT(NAME, T)                                            \
    SHMEMI_DEV_WAIT_IN(NAME, T, , SHMEMI_DEV_THREAD)                        \
    SHMEMI_DEV_WAIT_IN(NAME, T, _warp, SHMEMI_DEV_WARP)                     \
    SHMEMI_DEV_WAIT_IN(NAME, T, _block, SHMEMI_DEV_BLOCK)
SHMEMI_DEV_AMO_TYPES(SHMEMI_DEV_WAIT)
SHMEMI_DEV_WAIT(short, short)
SHMEMI_DEV_WAIT(ushort, unsigned short)
#undef SHMEMI_DEV_WAIT
#undef SHMEMI_DEV_WAIT_IN

/* Of one thread: shmemx_dev_TYPENAME_wait_until_all, _any, _some, _test_all,
 * _test_any, _test_some, and each of them with _vector behind it, where
 * cmp_value is an array. */
#define SHMEMI_DEV_IVARS(T, VALUES, VALUE)                                  \
    shmemi_dev_set_of(ivars, nelems, status, sizeof(T),                     \
                      SHMEMI_DEV_SIGNED(T), cmp, VALUES, VALUE)
#define SHMEMI_DEV_SET(NAME, T, SUFFIX, CMP_ARG, VALUES, VALUE)             \
    SHMEMI_DEV void shmemx_dev_##NAME##_wait_until_all##SUFFIX(             \
        const shmemx_dev_t *dev, const T *ivars, size_t nelems,             \
        const int *status, int cmp, CMP_ARG)                                \
    {                                                                       \
        shmemi_dev_wait_all(dev, SHMEMI_DEV_IVARS(T, VALUES, VALUE));       \
    }                                                                       \
    SHMEMI_DEV size_t shmemx_dev_##NAME##_wait_until_any##SUFFIX(           \
        const shmemx_dev_t *dev, const T *ivars, size_t nelems,             \
        const int *status, int cmp, CMP_ARG)                                \
    {                                                                       \
        return shmemi_dev_wait_any(dev, SHMEMI_DEV_IVARS(T, VALUES, VALUE)); \
    }                                                                       \
    SHMEMI_DEV size_t shmemx_dev_##NAME##_wait_until_some##SUFFIX(          \
        const shmemx_dev_t *dev, const T *ivars, size_t nelems,             \
        size_t *indices, const int *status, int cmp, CMP_ARG)               \
    {                                                                       \
        return shmemi_dev_wait_some(dev, SHMEMI_DEV_IVARS(T, VALUES, VALUE), \
                                    indices);                               \
    }                                                                       \
    SHMEMI_DEV int shmemx_dev_##NAME##_test_all##SUFFIX(                    \
        const shmemx_dev_t *dev, const T *ivars, size_t nelems,             \
        const int *status, int cmp, CMP_ARG)                                \
    {                                                                       \
        shmemi_dev_set s = SHMEMI_DEV_IVARS(T, VALUES, VALUE);              \
                                                                            \
        (void)dev;                                                          \
        return shmemi_dev_set_all(&s);                                      \
    }                                                                       \
    SHMEMI_DEV size_t shmemx_dev_##NAME##_test_any##SUFFIX(                 \
        const shmemx_dev_t *dev, const T *ivars, size_t nelems,             \
        const int *status, int cmp, CMP_ARG)                                \
    {                                                                       \
        shmemi_dev_set s = SHMEMI_DEV_IVARS(T, VALUES, VALUE);              \
        int left;                                                           \
        size_t i = shmemi_dev_set_any(&s, &left);                           \
                                                                            \
        (void)dev;                                                          \
        return i < nelems ? i : (size_t)-1;                                 \
    }                                                                       \
    SHMEMI_DEV size_t shmemx_dev_##NAME##_test_some##SUFFIX(                \
        const shmemx_dev_t *dev, const T *ivars, size_t nelems,             \
        size_t *indices, const int *status, int cmp, CMP_ARG)               \
    {                                                                       \
        shmemi_dev_set s = SHMEMI_DEV_IVARS(T, VALUES, VALUE);              \
        int left;                                                           \
                                                                            \
        (void)dev;                                                          \
        return shmemi_dev_set_some(&s, indices, &left);                     \
    }
#define SHMEMI_DEV_SETS(NAME, T)                                            \
    SHMEMI_DEV_SET(NAME, T, , T cmp_value, (const T *)0,                    \
                   SHMEMI_DEV_ZEXT(T, cmp_value))                           \
    SHMEMI_DEV_SET(NAME, T, _vector, const T *cmp_values, cmp_values, 0)
SHMEMI_DEV_AMO_TYPES(SHMEMI_DEV_SETS)
#undef SHMEMI_DEV_SETS
#undef SHMEMI_DEV_SET
#undef SHMEMI_DEV_IVARS

SHMEMI_DEV shmemi_u64 shmemx_dev_signal_fetch(const shmemx_dev_t *dev,
                                              const void *sig_addr)
{
    (void)dev;
    return shmemi_dev_acquire_64(sig_addr);
}

/* Returns the value of the signal that ended the wait. */
#define SHMEMI_DEV_SIGNAL_WAIT(SCOPE_NAME, SCOPE)                           \
    SHMEMI_DEV shmemi_u64 shmemx_dev_signal_wait_until##SCOPE_NAME(         \
        const shmemx_dev_t *dev, const void *sig_addr, int cmp,             \
        shmemi_u64 cmp_value)                                               \
    {                                                                       \
        int part = shmemi_dev_takes_part(dev, SCOPE);                       \
        shmemi_u64 is = shmemi_dev_wait(dev, sig_addr, 8, 0, cmp,           \
                                        cmp_value, SCOPE);                  \
                                                                            \
        return shmemi_dev_share(dev, SCOPE, part, is);                      \
    }
SHMEMI_DEV_SCOPES(SHMEMI_DEV_SIGNAL_WAIT)
#undef SHMEMI_DEV_SIGNAL_WAIT
