/* SPDX-License-Identifier: BSD-3-Clause */

/* shmemx_dev_reduce.h - reductions of kernels.  A part of shmemx_dev_coll.h,
 * which says how its calls work.
 *
 * Little data: each member reduces all sources, in the order of the members.
 * Else each member reduces a slice of the array from all members' sources,
 * which it loads or gets, and sends each piece of the slice to all while it
 * reduces the next.  Either way all members have the same result, bit by bit.
 *
 * dest and source of a reduce are the same array, or do not overlap.  A
 * reducescatter stores the reduction of the blocks at source + my_pe * nelems
 * to dest, which is that block, or does not overlap source. */

/* ---- arithmetic ---- */

enum shmemi_dev_op_of {
    SHMEMI_DEV_SUM, SHMEMI_DEV_PROD, SHMEMI_DEV_MIN, SHMEMI_DEV_MAX,
    SHMEMI_DEV_AND, SHMEMI_DEV_OR, SHMEMI_DEV_XOR
};
/* Kinds of types: unsigned integers of 1 to 8 bytes, signed ones, others. */
enum shmemi_dev_kind {
    SHMEMI_DEV_U8, SHMEMI_DEV_U16, SHMEMI_DEV_U32, SHMEMI_DEV_U64,
    SHMEMI_DEV_S8, SHMEMI_DEV_S16, SHMEMI_DEV_S32, SHMEMI_DEV_S64,
    SHMEMI_DEV_F32, SHMEMI_DEV_F64, SHMEMI_DEV_F128,
    SHMEMI_DEV_F16, SHMEMI_DEV_BF16
};
#define SHMEMI_DEV_KIND(T)                                                  \
    ((enum shmemi_dev_kind)(                                                \
        (T)0.5f == (T)0                                                     \
            ? (sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1                      \
               : sizeof(T) == 4 ? 2 : 3) + ((T)-1 < (T)1 ? 4 : 0)           \
        : sizeof(T) == 4 ? SHMEMI_DEV_F32                                   \
        : sizeof(T) == 8 ? SHMEMI_DEV_F64 : SHMEMI_DEV_F128))

SHMEMI_DEV shmemi_u64 shmemi_dev_kind_size(enum shmemi_dev_kind kind)
{
    return kind <= SHMEMI_DEV_S64    ? (shmemi_u64)1 << (kind & 3)
           : kind == SHMEMI_DEV_F32  ? 4
           : kind == SHMEMI_DEV_F64  ? 8
           : kind == SHMEMI_DEV_F128 ? sizeof(long double)
                                     : 2;
}

/* This thread's share of to[i] = VALUE of x and y; to may be a or b.  The
 * memory is the program's, of any type of the kind. */
#ifdef SHMEMI_DEV_C
#define SHMEMI_DEV_EACH(T, VALUE)                                           \
    do {                                                                    \
        typedef T __attribute__((may_alias)) word_;                         \
        const word_ *a_ = (const word_ *)a, *b_ = (const word_ *)b;         \
        word_ *to_ = (word_ *)to;                                           \
        shmemi_u64 i_;                                                      \
        (void)rank;                                                         \
        (void)ranks;                                                        \
        for (i_ = 0; i_ < n; i_++) {                                        \
            T x = a_[i_], y = b_[i_];                                       \
            to_[i_] = (T)(VALUE);                                           \
        }                                                                   \
    } while (0)
#else
/* Four loads are under way together. */
#define SHMEMI_DEV_EACH(T, VALUE)                                           \
    do {                                                                    \
        const T *a_ = (const T *)a, *b_ = (const T *)b;                     \
        T *to_ = (T *)to, xs_[4], ys_[4];                                   \
        shmemi_u64 i_ = rank;                                               \
        for (; i_ + 3 * ranks < n; i_ += 4 * ranks) {                       \
            for (int k_ = 0; k_ < 4; k_++) {                                \
                xs_[k_] = a_[i_ + (shmemi_u64)k_ * ranks];                  \
                ys_[k_] = b_[i_ + (shmemi_u64)k_ * ranks];                  \
            }                                                               \
            for (int k_ = 0; k_ < 4; k_++) {                                \
                T x = xs_[k_], y = ys_[k_];                                 \
                to_[i_ + (shmemi_u64)k_ * ranks] = (T)(VALUE);              \
            }                                                               \
        }                                                                   \
        for (; i_ < n; i_ += ranks) {                                       \
            T x = a_[i_], y = b_[i_];                                       \
            to_[i_] = (T)(VALUE);                                           \
        }                                                                   \
    } while (0)
#endif

#define SHMEMI_DEV_OPERANDS                                                 \
    shmemi_u64 to, shmemi_u64 a, shmemi_u64 b, shmemi_u64 n,                \
    shmemi_u64 rank, shmemi_u64 ranks

/* Sums and products wrap around; W is wide enough that none is of an int. */
#define SHMEMI_DEV_INTEGERS(BITS, T, S, W)                                  \
    SHMEMI_DEV void shmemi_dev_combine_##BITS(enum shmemi_dev_op_of op,     \
                                              int is_signed,                \
                                              SHMEMI_DEV_OPERANDS)          \
    {                                                                       \
        switch (op) {                                                       \
        case SHMEMI_DEV_SUM: SHMEMI_DEV_EACH(T, (W)x + (W)y); break;        \
        case SHMEMI_DEV_PROD: SHMEMI_DEV_EACH(T, (W)x * (W)y); break;       \
        case SHMEMI_DEV_AND: SHMEMI_DEV_EACH(T, x & y); break;              \
        case SHMEMI_DEV_OR: SHMEMI_DEV_EACH(T, x | y); break;               \
        case SHMEMI_DEV_XOR: SHMEMI_DEV_EACH(T, x ^ y); break;              \
        case SHMEMI_DEV_MIN:                                                \
            if (is_signed)                                                  \
                SHMEMI_DEV_EACH(S, y < x ? y : x);                          \
            else                                                            \
                SHMEMI_DEV_EACH(T, y < x ? y : x);                          \
            break;                                                          \
        default:                                                            \
            if (is_signed)                                                  \
                SHMEMI_DEV_EACH(S, y > x ? y : x);                          \
            else                                                            \
                SHMEMI_DEV_EACH(T, y > x ? y : x);                          \
        }                                                                   \
    }
SHMEMI_DEV_INTEGERS(8, unsigned char, signed char, shmemi_u32)
SHMEMI_DEV_INTEGERS(16, unsigned short, short, shmemi_u32)
SHMEMI_DEV_INTEGERS(32, shmemi_u32, int, shmemi_u32)
SHMEMI_DEV_INTEGERS(64, shmemi_u64, long long, shmemi_u64)
#undef SHMEMI_DEV_INTEGERS

/* W: the type of the arithmetic. */
#define SHMEMI_DEV_FLOATS(NAME, T, W)                                       \
    SHMEMI_DEV void shmemi_dev_combine_##NAME(enum shmemi_dev_op_of op,     \
                                              SHMEMI_DEV_OPERANDS)          \
    {                                                                       \
        switch (op) {                                                       \
        case SHMEMI_DEV_SUM: SHMEMI_DEV_EACH(T, (W)x + (W)y); break;        \
        case SHMEMI_DEV_PROD: SHMEMI_DEV_EACH(T, (W)x * (W)y); break;       \
        case SHMEMI_DEV_MIN:                                                \
            SHMEMI_DEV_EACH(T, (W)y < (W)x ? y : x);                        \
            break;                                                          \
        default: SHMEMI_DEV_EACH(T, (W)y > (W)x ? y : x);                   \
        }                                                                   \
    }
SHMEMI_DEV_FLOATS(float, float, float)
SHMEMI_DEV_FLOATS(double, double, double)
#ifdef SHMEMI_DEV_C
SHMEMI_DEV_FLOATS(longdouble, long double, long double)
#endif
#define SHMEMI_DEV_SHORT_FLOAT(NAME, T) SHMEMI_DEV_FLOATS(NAME, T, float)
SHMEMI_DEV_SHORT_FLOATS(SHMEMI_DEV_SHORT_FLOAT)
#undef SHMEMI_DEV_SHORT_FLOAT
#undef SHMEMI_DEV_FLOATS
#undef SHMEMI_DEV_EACH
#undef SHMEMI_DEV_OPERANDS

/* This thread's share of to[i] = a[i] op b[i], for n elements.  The same thread
 * has the same elements in each call. */
SHMEMI_DEV void shmemi_dev_combine(enum shmemi_dev_kind kind,
                                   enum shmemi_dev_op_of op, void *to_mem,
                                   const void *a_mem, const void *b_mem,
                                   shmemi_u64 n, enum shmemi_dev_scope scope)
{
    shmemi_u64 to = (shmemi_u64)to_mem, a = (shmemi_u64)a_mem;
    shmemi_u64 b = (shmemi_u64)b_mem;
    shmemi_u64 rank = shmemi_dev_rank(scope), ranks = shmemi_dev_ranks(scope);
    int is_signed = kind >= SHMEMI_DEV_S8;

#define SHMEMI_DEV_DO to, a, b, n, rank, ranks
#define SHMEMI_DEV_DO_SHORT(NAME, T)                                        \
    shmemi_dev_combine_##NAME(op, SHMEMI_DEV_DO);
    switch (kind) {
    case SHMEMI_DEV_U8:
    case SHMEMI_DEV_S8:
        shmemi_dev_combine_8(op, is_signed, SHMEMI_DEV_DO);
        break;
    case SHMEMI_DEV_U16:
    case SHMEMI_DEV_S16:
        shmemi_dev_combine_16(op, is_signed, SHMEMI_DEV_DO);
        break;
    case SHMEMI_DEV_U32:
    case SHMEMI_DEV_S32:
        shmemi_dev_combine_32(op, is_signed, SHMEMI_DEV_DO);
        break;
    case SHMEMI_DEV_U64:
    case SHMEMI_DEV_S64:
        shmemi_dev_combine_64(op, is_signed, SHMEMI_DEV_DO);
        break;
    case SHMEMI_DEV_F32: shmemi_dev_combine_float(op, SHMEMI_DEV_DO); break;
    case SHMEMI_DEV_F64: shmemi_dev_combine_double(op, SHMEMI_DEV_DO); break;
    case SHMEMI_DEV_F16: SHMEMI_DEV_HALF(SHMEMI_DEV_DO_SHORT) break;
    case SHMEMI_DEV_BF16: SHMEMI_DEV_BFLOAT16(SHMEMI_DEV_DO_SHORT) break;
    case SHMEMI_DEV_F128:
#ifdef SHMEMI_DEV_C
        shmemi_dev_combine_longdouble(op, SHMEMI_DEV_DO);
#endif
        break;
    }
#undef SHMEMI_DEV_DO_SHORT
#undef SHMEMI_DEV_DO
}

/* ---- from all members ---- */

enum {
    SHMEMI_DEV_PIECE = 65536,           /* bytes that are sent together */
    SHMEMI_DEV_GETS = 4,                /* under way at once */
    SHMEMI_DEV_GET_BYTES = SHMEMI_DEV_SCRATCH / SHMEMI_DEV_GETS
};

/* to = a op what the member has at sym, which the device does not reach: gets
 * to the scratch memory. */
SHMEMI_DEV void shmemi_dev_fold_gets(const shmemi_dev_coll *c,
                                     enum shmemi_dev_kind kind,
                                     enum shmemi_dev_op_of op, char *to,
                                     const char *a, const char *sym, int member,
                                     shmemi_u64 n)
{
    shmemi_u64 size = shmemi_dev_kind_size(kind), count, at, k;
    shmemi_u64 most = SHMEMI_DEV_GET_BYTES / size;
    shmemi_u64 gets = (n + most - 1) / most;
    char *room = (char *)shmemi_dev_area(&c->world, c->t, c->t->my_pe,
                                         SHMEMI_DEV_AT_SCRATCH);
    shmemi_dev_position last[SHMEMI_DEV_GETS] = { { 0, 0 } };

    for (k = 0; k < gets + SHMEMI_DEV_GETS - 1; k++) {
        at = k * most;
        if (k < gets && shmemi_dev_coll_leads(c))
            last[k % SHMEMI_DEV_GETS] = shmemi_dev_push(
                &c->world, SHMEMI_DEV_HEAD(SHMEMI_DEV_GET, 0,
                                           SHMEMI_DEV_CALL_COLL, 0),
                shmemi_dev_coll_pe(c, member),
                room + k % SHMEMI_DEV_GETS * SHMEMI_DEV_GET_BYTES,
                sym + at * size, (at + most < n ? most : n - at) * size, 0, 0,
                0);
        if (k < SHMEMI_DEV_GETS - 1 || k + 1 - SHMEMI_DEV_GETS >= gets)
            continue;
        at -= (SHMEMI_DEV_GETS - 1) * most;
        count = at + most < n ? most : n - at;
        if (shmemi_dev_coll_leads(c))
            shmemi_dev_await_done(&c->world,
                                  last[(k + 1) % SHMEMI_DEV_GETS]);
        shmemi_dev_coll_seen(c);
        shmemi_dev_combine(kind, op, to + at * size, a + at * size,
                           room + (k + 1) % SHMEMI_DEV_GETS *
                                      SHMEMI_DEV_GET_BYTES,
                           count, c->scope);
        shmemi_dev_barrier(c->scope);
    }
}

/* to = the n elements at sym of all members. */
SHMEMI_DEV void shmemi_dev_fold(const shmemi_dev_coll *c,
                                enum shmemi_dev_kind kind,
                                enum shmemi_dev_op_of op, char *to,
                                const char *sym, shmemi_u64 n)
{
    const char *a = sym;
    shmemi_u64 from;
    int i, member;

    for (i = 1; i < c->t->n_pes; i++) {
        member = shmemi_dev_coll_after(c, i);
        from = shmemi_dev_coll_map(c, member, sym,
                                   n * shmemi_dev_kind_size(kind));
        if (from)
            shmemi_dev_combine(kind, op, to, a, (const void *)from, n,
                               c->scope);
        else
            shmemi_dev_fold_gets(c, kind, op, to, a, sym, member, n);
        a = to;
    }
    if (c->t->n_pes == 1)
        shmemi_dev_coll_own(c, to, sym, n * shmemi_dev_kind_size(kind));
}

/* dest = what an eager call has brought, and the member's own elements. */
SHMEMI_DEV void shmemi_dev_fold_slots(const shmemi_dev_coll *c,
                                      enum shmemi_dev_kind kind,
                                      enum shmemi_dev_op_of op, void *dest,
                                      const void *own, char *slots,
                                      shmemi_u64 n)
{
    shmemi_u64 bytes = n * shmemi_dev_kind_size(kind);
    int mine = c->t->my_pe, members = c->t->n_pes, i;
    const void *a = mine ? slots : own, *b;
    void *to;

    for (i = 1; i < members; i++) {
        b = i == mine ? own
                      : slots + (shmemi_u64)i * shmemi_dev_eager_slot(bytes);
        to = i == members - 1 ? dest : slots;
        shmemi_dev_combine(kind, op, to, a, b, n, c->scope);
        a = to;
    }
    if (members == 1)
        shmemi_dev_coll_own(c, dest, own, bytes);
}

/* ---- reduce ---- */

/* Elements of a slice: the last ones are shorter, or empty. */
SHMEMI_DEV shmemi_u64 shmemi_dev_slice(const shmemi_dev_coll *c,
                                       shmemi_u64 nelems, shmemi_u64 size)
{
    shmemi_u64 n = (shmemi_u64)c->t->n_pes, unit = (15 + size) / size;
    shmemi_u64 each = (nelems + n - 1) / n;

    return (each + unit - 1) / unit * unit;
}

/* The pieces of a member's slice. */
SHMEMI_DEV shmemi_u64 shmemi_dev_slice_pieces(shmemi_u64 nelems,
                                              shmemi_u64 slice,
                                              shmemi_u64 piece, int member)
{
    shmemi_u64 first = (shmemi_u64)member * slice, n;

    if (first >= nelems)
        return 0;
    n = first + slice < nelems ? slice : nelems - first;
    return (n + piece - 1) / piece;
}

SHMEMI_DEV void shmemi_dev_reduce_slices(shmemi_dev_coll *c,
                                         enum shmemi_dev_kind kind,
                                         enum shmemi_dev_op_of op, char *dest,
                                         const char *source, shmemi_u64 nelems)
{
    shmemi_u64 size = shmemi_dev_kind_size(kind), k, at, n, end;
    shmemi_u64 slice = shmemi_dev_slice(c, nelems, size), arrivals = 0;
    shmemi_u64 piece = SHMEMI_DEV_PIECE / size;
    int mine = c->t->my_pe, i;
    shmemi_dev_parcel p;

    shmemi_dev_coll_enter(c);
    end = ((shmemi_u64)mine + 1) * slice;
    end = end < nelems ? end : nelems;
    for (k = 0; k < shmemi_dev_slice_pieces(nelems, slice, piece, mine); k++) {
        at = (shmemi_u64)mine * slice + k * piece;
        n = at + piece < end ? piece : end - at;
        shmemi_dev_fold(c, kind, op, dest + at * size, source + at * size, n);
        shmemi_dev_coll_stored(c);
        p = shmemi_dev_parcel_of(dest + at * size, dest + at * size, n * size);
        shmemi_dev_coll_send_all(c, &p, 0, -1);
    }
    for (i = 1; i < c->t->n_pes; i++)
        arrivals += shmemi_dev_slice_pieces(nelems, slice, piece,
                                            shmemi_dev_coll_after(c, i));
    shmemi_dev_coll_arrive(c, arrivals);
}

SHMEMI_DEV int shmemi_dev_reduce(const struct shmemx_dev *d, shmem_team_t team,
                                 enum shmemi_dev_kind kind,
                                 enum shmemi_dev_op_of op, void *dest,
                                 const void *source, shmemi_u64 nelems,
                                 enum shmemi_dev_scope scope)
{
    shmemi_u64 bytes = nelems * shmemi_dev_kind_size(kind);
    shmemi_dev_coll c;
    int part = shmemi_dev_coll_begin(&c, d, team, scope);

    if (part <= 0 || !nelems)
        return part < 0 ? -1 : 0;
    if (shmemi_dev_coll_is_eager(&c, bytes))
        shmemi_dev_fold_slots(&c, kind, op, dest, source,
                              shmemi_dev_eager(&c, source, 0, bytes), nelems);
    else
        shmemi_dev_reduce_slices(&c, kind, op, (char *)dest,
                                 (const char *)source, nelems);
    shmemi_dev_coll_end(&c);
    return 0;
}

/* ---- reducescatter ---- */

SHMEMI_DEV int shmemi_dev_reducescatter(const struct shmemx_dev *d,
                                        shmem_team_t team,
                                        enum shmemi_dev_kind kind,
                                        enum shmemi_dev_op_of op, void *dest,
                                        const void *source, shmemi_u64 nelems,
                                        enum shmemi_dev_scope scope)
{
    shmemi_u64 bytes = nelems * shmemi_dev_kind_size(kind);
    shmemi_dev_coll c;
    const char *own;
    int part = shmemi_dev_coll_begin(&c, d, team, scope);

    if (part <= 0 || !nelems)
        return part < 0 ? -1 : 0;
    own = (const char *)source + (shmemi_u64)c.t->my_pe * bytes;
    if (shmemi_dev_coll_is_eager(&c, bytes)) {
        shmemi_dev_fold_slots(&c, kind, op, dest, own,
                              shmemi_dev_eager(&c, source, bytes, bytes),
                              nelems);
    } else {
        shmemi_dev_coll_enter(&c);
        shmemi_dev_fold(&c, kind, op, (char *)dest, own, nelems);
        shmemi_dev_coll_stored(&c);
        shmemi_dev_coll_enter(&c);      /* none reads this source any more */
    }
    shmemi_dev_coll_end(&c);
    return 0;
}

/* ---- calls ---- */

/* shmemx_dev_TYPENAME_sum_reduce, _prod_, _min_, _max_, _and_, _or_, _xor_, and
 * so _reducescatter, each also with _warp and _block behind it. */
#define SHMEMI_DEV_REDUCE_IN(NAME, T, OP, CALL, SCOPE_NAME, SCOPE)          \
    SHMEMI_DEV int shmemx_dev_##NAME##_##OP##_##CALL##SCOPE_NAME(           \
        const shmemx_dev_t *dev, shmem_team_t team, T *dest,                \
        const T *source, size_t nelems)                                     \
    {                                                                       \
        return shmemi_dev_##NAME##_##OP##_##CALL(dev, team, dest, source,   \
                                                 nelems, SCOPE);            \
    }
#define SHMEMI_DEV_REDUCE_CALL(NAME, T, KIND, OP, CODE, CALL)               \
    SHMEMI_DEV_BODY int shmemi_dev_##NAME##_##OP##_##CALL(                  \
        const shmemx_dev_t *dev, shmem_team_t team, void *dest,             \
        const void *source, shmemi_u64 nelems, enum shmemi_dev_scope scope) \
    {                                                                       \
        return shmemi_dev_##CALL(dev, team, KIND, CODE, dest, source,       \
                                 nelems, scope);                            \
    }                                                                       \
    SHMEMI_DEV_REDUCE_IN(NAME, T, OP, CALL, , SHMEMI_DEV_THREAD)            \
    SHMEMI_DEV_REDUCE_IN(NAME, T, OP, CALL, _warp, SHMEMI_DEV_WARP)         \
    SHMEMI_DEV_REDUCE_IN(NAME, T, OP, CALL, _block, SHMEMI_DEV_BLOCK)
#define SHMEMI_DEV_REDUCE(NAME, T, KIND, OP, CODE)                          \
    SHMEMI_DEV_REDUCE_CALL(NAME, T, KIND, OP, CODE, reduce)                 \
    SHMEMI_DEV_REDUCE_CALL(NAME, T, KIND, OP, CODE, reducescatter)
#define SHMEMI_DEV_REDUCE_KIND(NAME, T, KIND)                               \
    SHMEMI_DEV_REDUCE(NAME, T, KIND, sum, SHMEMI_DEV_SUM)                   \
    SHMEMI_DEV_REDUCE(NAME, T, KIND, prod, SHMEMI_DEV_PROD)                 \
    SHMEMI_DEV_REDUCE(NAME, T, KIND, min, SHMEMI_DEV_MIN)                   \
    SHMEMI_DEV_REDUCE(NAME, T, KIND, max, SHMEMI_DEV_MAX)
#define SHMEMI_DEV_REDUCE_ANY(NAME, T)                                      \
    SHMEMI_DEV_REDUCE_KIND(NAME, T, SHMEMI_DEV_KIND(T))
#define SHMEMI_DEV_REDUCE_BITS(NAME, T)                                     \
    SHMEMI_DEV_REDUCE(NAME, T, SHMEMI_DEV_KIND(T), and, SHMEMI_DEV_AND)     \
    SHMEMI_DEV_REDUCE(NAME, T, SHMEMI_DEV_KIND(T), or, SHMEMI_DEV_OR)       \
    SHMEMI_DEV_REDUCE(NAME, T, SHMEMI_DEV_KIND(T), xor, SHMEMI_DEV_XOR)
#define SHMEMI_DEV_REDUCE_F16(NAME, T)                                      \
    SHMEMI_DEV_REDUCE_KIND(NAME, T, SHMEMI_DEV_F16)
#define SHMEMI_DEV_REDUCE_BF16(NAME, T)                                     \
    SHMEMI_DEV_REDUCE_KIND(NAME, T, SHMEMI_DEV_BF16)
SHMEMI_DEV_REDUCE_TYPES(SHMEMI_DEV_REDUCE_ANY)
SHMEMI_DEV_REDUCE_BIT_TYPES(SHMEMI_DEV_REDUCE_BITS)
SHMEMI_DEV_HALF(SHMEMI_DEV_REDUCE_F16)
SHMEMI_DEV_BFLOAT16(SHMEMI_DEV_REDUCE_BF16)
#undef SHMEMI_DEV_REDUCE_BF16
#undef SHMEMI_DEV_REDUCE_F16
#undef SHMEMI_DEV_REDUCE_BITS
#undef SHMEMI_DEV_REDUCE_ANY
#undef SHMEMI_DEV_REDUCE_KIND
#undef SHMEMI_DEV_REDUCE
#undef SHMEMI_DEV_REDUCE_CALL
#undef SHMEMI_DEV_REDUCE_IN
#undef SHMEMI_DEV_KIND
