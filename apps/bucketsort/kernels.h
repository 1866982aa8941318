/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.h - what the device does with keys: one text for CUDA, for HIP and,
 * as C, for the software device.  It is compiled with the program, and the
 * program has it as a string for the compilers of GPUs at run time; so it
 * includes nothing.
 *
 * Keys are ordered by class: by a digit for a pass of the local sort, by the
 * PE that gets them for the exchange.  Each unit has its own part of the keys
 * and its own counters, so that units need nothing of each other and keys of
 * a class stay in their order:
 *   count    each unit counts the keys of each class in its part
 *   sum      the counters, by class and then by unit, in equal pieces
 *   scan     from the pieces' sums to their beginnings
 *   place    from counters to places
 *   scatter  each unit moves its keys there
 * and differ finds the bits in which keys differ.
 * A unit is an item of a grid.  Between two phases its group has a barrier. */
typedef unsigned int word32;
typedef unsigned long long word64;

enum { BY_DIGIT, BY_WIDTH, BY_VALUE };

/* One step: the same words for all kernels, addresses first. */
struct work {
    void *from, *to;            /* keys */
    void *values;               /* at cuts, ascending, behind them the largest
                                 * key up to `size` */
    word64 *counts;             /* [classes][units], apart by the strides */
    word64 *sums;               /* [pieces] */
    word64 *partial;            /* [items of scan] */
    word64 *edges;              /* [classes] where each begins; of differ: the
                                 * bits */
    word64 n, each;             /* keys, and those of a unit */
    word64 class_stride, unit_stride;
    word64 per, pieces;         /* counters of a piece */
    word64 factor;              /* of BY_WIDTH: class = key * factor >> 64 */
    word32 units, classes;
    word32 width;               /* bytes of a key: 4 or 8 */
    word32 how, shift;          /* shift: of BY_DIGIT */
    word32 cuts, size;          /* of BY_VALUE; size: a power of 2 */
};

struct spot {
    word32 group, item, groups, items;
};

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define DEVICE static __device__ __forceinline__
#define MULTIPLY_HIGH(a, b) __umul64hi(a, b)
#define SET_BITS(at, bits) atomicOr(at, bits)
#define SPOT { blockIdx.x, threadIdx.x, gridDim.x, blockDim.x }
#define BARRIER() __syncthreads()
#elif defined(__HIPCC__) || defined(__HIPCC_RTC__)
#define DEVICE static __attribute__((device)) inline
#define MULTIPLY_HIGH(a, b) ((word64)((unsigned __int128)(a) * (b) >> 64))
#define SET_BITS(at, bits) \
    __hip_atomic_fetch_or(at, bits, __ATOMIC_RELAXED, \
                          __HIP_MEMORY_SCOPE_AGENT)
#define SPOT { \
    __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workitem_id_x(), \
    __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(), \
    __builtin_amdgcn_workgroup_size_x() }
#define BARRIER() \
    do { \
        __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); \
        __builtin_amdgcn_s_barrier(); \
        __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); \
    } while (0)
#else
#define DEVICE static inline __attribute__((always_inline))
#define MULTIPLY_HIGH(a, b) ((word64)((unsigned __int128)(a) * (b) >> 64))
/* relaxed: who reads comes after the kernel. */
#define SET_BITS(at, bits) __atomic_fetch_or(at, bits, __ATOMIC_RELAXED)
#endif

DEVICE word64 key_at(const void *keys, word32 width, word64 i)
{
    return width == 4 ? ((const word32 *)keys)[i] : ((const word64 *)keys)[i];
}

DEVICE word32 class_by_value(const struct work *w, word32 width, word64 key)
{
    word32 at = 0;

    for (word32 step = w->size / 2; step; step /= 2)
        at += key_at(w->values, width, at + step - 1) < key ? step : 0;
    return 2 * at + (at < w->cuts && key_at(w->values, width, at) == key);
}

DEVICE word32 class_of(const struct work *w, word32 width, word32 how,
                       word64 key)
{
    if (how == BY_DIGIT)
        return (word32)(key >> w->shift) & (w->classes - 1);
    if (how == BY_VALUE)
        return class_by_value(w, width, key);
    return (word32)(w->factor ? MULTIPLY_HIGH(w->factor, key) : key);
}

/* A unit's part of the keys: [from, to). */
DEVICE word64 part(const struct work *w, word64 unit, word64 *to)
{
    word64 from = unit * w->each;

    if (unit >= w->units || from > w->n)
        from = w->n;
    *to = w->n - from < w->each ? w->n : from + w->each;
    return from;
}

DEVICE void count_keys(const struct work *w, word64 unit, word32 width,
                       word32 how)
{
    word64 *counts = w->counts + unit * w->unit_stride;
    word64 to, from = part(w, unit, &to);

    for (word64 i = from; i < to; i++)
        counts[class_of(w, width, how, key_at(w->from, width, i)) *
               w->class_stride]++;
}

DEVICE void scatter_keys(const struct work *w, word64 unit, word32 width,
                         word32 how)
{
    word64 *places = w->counts + unit * w->unit_stride;
    word64 to, from = part(w, unit, &to);

    for (word64 i = from; i < to; i++) {
        word64 key = key_at(w->from, width, i);
        word64 at = places[class_of(w, width, how, key) * w->class_stride]++;

        if (width == 4)
            ((word32 *)w->to)[at] = (word32)key;
        else
            ((word64 *)w->to)[at] = key;
    }
}

/* Width and kind are constants in each loop. */
#define BY(how, call) \
    do { \
        if (w->width == 4) \
            call(w, unit, 4, how); \
        else \
            call(w, unit, 8, how); \
    } while (0)
#define BY_ALL(call) \
    do { \
        if (w->how == BY_DIGIT) \
            BY(BY_DIGIT, call); \
        else if (w->how == BY_WIDTH) \
            BY(BY_WIDTH, call); \
        else \
            BY(BY_VALUE, call); \
    } while (0)

DEVICE void count(const struct work *w, const struct spot *s, word32 phase)
{
    word64 unit = (word64)s->group * s->items + s->item;

    (void)phase;
    if (unit >= w->units)
        return;
    for (word32 c = 0; c < w->classes; c++)
        w->counts[c * w->class_stride + unit * w->unit_stride] = 0;
    BY_ALL(count_keys);
}

DEVICE void scatter(const struct work *w, const struct spot *s, word32 phase)
{
    word64 unit = (word64)s->group * s->items + s->item;

    (void)phase;
    if (unit < w->units)
        BY_ALL(scatter_keys);
}

/* The counters of a piece are numbers [piece * per, ...) when all are counted
 * by class and within it by unit. */
DEVICE void sum(const struct work *w, const struct spot *s, word32 phase)
{
    word64 piece = (word64)s->group * s->items + s->item;
    word64 from = piece * w->per, to = from + w->per;
    word64 all = (word64)w->units * w->classes, total = 0;
    word64 c, unit;

    (void)phase;
    if (piece >= w->pieces)
        return;
    to = to < all ? to : all;
    c = from / w->units;
    unit = from % w->units;
    for (; from < to; from++) {
        total += w->counts[c * w->class_stride + unit * w->unit_stride];
        if (++unit == w->units) {
            unit = 0;
            c++;
        }
    }
    w->sums[piece] = total;
}

DEVICE void place(const struct work *w, const struct spot *s, word32 phase)
{
    word64 piece = (word64)s->group * s->items + s->item;
    word64 from = piece * w->per, to = from + w->per;
    word64 all = (word64)w->units * w->classes, at;
    word64 c, unit;

    (void)phase;
    if (piece >= w->pieces)
        return;
    to = to < all ? to : all;
    c = from / w->units;
    unit = from % w->units;
    at = w->sums[piece];
    for (; from < to; from++) {
        word64 *count = &w->counts[c * w->class_stride +
                                   unit * w->unit_stride];
        word64 n = *count;

        *count = at;
        if (unit == 0)
            w->edges[c] = at;
        at += n;
        if (++unit == w->units) {
            unit = 0;
            c++;
        }
    }
}

/* One group.  Each item has a part of the pieces. */
DEVICE void scan(const struct work *w, const struct spot *s, word32 phase)
{
    word64 per = (w->pieces + s->items - 1) / s->items;
    word64 from = s->item * per, to = from + per, at = 0;

    to = to < w->pieces ? to : w->pieces;
    if (phase == 0) {
        for (; from < to; from++)
            at += w->sums[from];
        w->partial[s->item] = at;
    } else if (phase == 1) {
        for (word32 i = 0; s->item == 0 && i < s->items; i++) {
            word64 n = w->partial[i];

            w->partial[i] = at;
            at += n;
        }
    } else {
        at = w->partial[s->item];
        for (; from < to; from++) {
            word64 n = w->sums[from];

            w->sums[from] = at;
            at += n;
        }
    }
}

DEVICE void differ(const struct work *w, const struct spot *s, word32 phase)
{
    word64 unit = (word64)s->group * s->items + s->item;
    word64 to, from = part(w, unit, &to), bits = 0, first;

    (void)phase;
    if (from >= to)
        return;
    first = key_at(w->from, w->width, 0);
    for (; from < to; from++)
        bits |= key_at(w->from, w->width, from) ^ first;
    if (bits)
        SET_BITS(w->edges, bits);
}

#define KERNELS(X) \
    X(count, 1) X(sum, 1) X(scan, 3) X(place, 1) X(scatter, 1) X(differ, 1)

#ifdef SPOT
#define GPU_KERNEL(name, phases) \
    extern "C" __attribute__((global)) void sort_##name(struct work w) \
    { \
        struct spot s = SPOT; \
        for (word32 phase = 0; phase < (phases); phase++) { \
            if (phase) \
                BARRIER(); \
            name(&w, &s, phase); \
        } \
    }
KERNELS(GPU_KERNEL)
#endif
