/* SPDX-License-Identifier: BSD-3-Clause */
/* ptx_int.h - what the interpreter's files share: the threads that run a kernel
 * of a module, and what executes an instruction. */
#ifndef FAKE_CUDA_PTX_INT_H
#define FAKE_CUDA_PTX_INT_H

#include "ptx_module.h"

/* ---- running ---- */
enum { WARP = 32, BARRIERS = 16, LINES = 64, DOORBELLS = 64 };
#define LOCAL_AT 0x00fffe0000000000ULL
#define SHARED_AT 0x00ffff0000000000ULL
#define PARAM_AT 0x00fffd0000000000ULL
#define WINDOW 0x000000ffffffffffULL

struct frame {
    struct frame *up;
    const struct func *fn;
    const struct insn *call;    /* that made it */
    int pc;
    uint64_t *r;
    unsigned char *param;
    size_t local;               /* where its local memory starts */
};
enum state { READY, AT_BARRIER, AT_WARP, SLEEPS, DONE };
struct thread {
    enum state state;
    struct frame *f;
    uint64_t *r;
    struct block *b;
    unsigned number, tid[3];
    unsigned carry;
    bool moved;                 /* in this turn, something has changed */
    unsigned polls;             /* in this turn */
    uint64_t until;             /* of a sleep, ns */
    const struct insn *at;      /* the barrier, or the warp's operation */
    unsigned bar;
    uint64_t a, c;              /* its operands there */
    unsigned with, mask;        /* with: b of a shuffle */
    unsigned char *local;
    size_t local_room;
};
struct barrier {
    unsigned arrived, count;    /* count: 0: all that live */
};
struct block {
    struct grid *g;
    unsigned id[3], live, n;
    struct thread *threads;
    unsigned char *shared;
    size_t shared_size;
    struct barrier bar[BARRIERS];
};
/* Memory that a kernel has met, so that not each access asks. */
struct line {
    uint64_t from, to;
    char *at;
    bool atomic;
};
struct grid {
    const struct ptx_launch *l;
    const struct func *entry;
    struct block **blocks;
    unsigned resident, running;
    uint64_t begun, total, seed;
    uint64_t workspace;         /* of a barrier of all blocks, or 0 */
    bool dirty;                 /* stores that NICs may not see yet */
    int fault;
    struct line lines[LINES];
    unsigned n_rung;            /* doorbells, each with the thread that may */
    struct {
        const void *doorbell;
        unsigned by[4];         /* the block, and its number there */
    } rung[DOORBELLS];
};

uint64_t ptx_get_other(const struct thread *t, const struct operand *o);
static inline uint64_t ptx_get(const struct thread *t, const struct operand *o)
{
    if (o->kind == O_REG && !o->unless)
        return t->r[o->slot];
    return ptx_get_other(t, o);
}
static inline void ptx_set(struct thread *t, const struct operand *o,
                           uint64_t v)
{
    if (o->kind == O_REG)
        t->r[o->slot] = v & o->mask;
}
/* A value of that type in 64 bits. */
static inline uint64_t ptx_extend(enum type type, uint64_t v)
{
    unsigned shift = 64 - ptx_bits(type);

    v <<= shift;
    return ptx_signed(type) ? (uint64_t)((int64_t)v >> shift) : v >> shift;
}
/* The k-th operand as type[0] has it. */
static inline uint64_t ptx_src(const struct thread *t, const struct insn *i,
                               int k)
{
    uint64_t v = ptx_get(t, &i->o[k]) << i->shift;

    return i->sgn ? (uint64_t)((int64_t)v >> i->shift) : v >> i->shift;
}
uint64_t ptx_now(void);

/* A line on stderr; the grid ends with that -errno. */
enum next ptx_fault(struct thread *t, const struct insn *i, int code,
                    const char *what, uint64_t at);
/* Where n bytes are; NULL, after a line. */
void *ptx_at(struct thread *t, const struct insn *i, enum space space,
             uint64_t at, size_t n, bool *atomic);
/* What was stored is there for NICs, and what the host has changed is looked
 * at anew. */
void ptx_flush(struct grid *g);
struct frame *ptx_push(struct thread *t, const struct func *fn);
void ptx_pop(struct thread *t);
enum next ptx_exit(struct thread *t);
/* A thread has gone: those that waited for it may go on. */
void ptx_recount(struct thread *t);
double ptx_real(enum type type, uint64_t v);
uint64_t ptx_unreal(enum type type, double v);
uint64_t ptx_float_add(enum type type, uint64_t a, uint64_t b);

#define PTX_EXECS(X)                                                        \
    X(add) X(addc) X(sub) X(subc) X(mul) X(mad) X(madc) X(mul24) X(mad24)   \
    X(div) X(rem) X(min) X(max) X(abs) X(neg) X(sad) X(and) X(or) X(xor)    \
    X(not) X(cnot) X(shl) X(shr) X(shf) X(bfe) X(bfi) X(bfind) X(brev)      \
    X(clz) X(popc) X(prmt) X(lop3) X(bmsk) X(dp4a) X(selp) X(slct)          \
    X(setp) X(set) X(mov) X(cvt) X(cvta) X(isspacep)                        \
    X(fadd) X(fsub) X(fmul) X(fma) X(fdiv) X(fmin) X(fmax) X(fabs) X(fneg)  \
    X(sqrt) X(rsqrt) X(rcp) X(ex2) X(lg2) X(sin) X(cos) X(tanh) X(testp)    \
    X(copysign)                                                             \
    X(ld) X(st) X(atom) X(red) X(fence) X(prefetch)                         \
    X(bar) X(vote) X(shfl) X(match) X(redux) X(elect) X(activemask)         \
    X(bra) X(brx) X(call) X(ret) X(exit) X(trap) X(brkpt) X(nanosleep)      \
    X(nothing)
#define X(name) ptx_exec ptx_x_##name;
PTX_EXECS(X)
#undef X

#endif
