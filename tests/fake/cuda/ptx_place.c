/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers that the hardware fills, and operands that are no plain registers.
 * For the instructions; it changes nothing but the count of a thread's looks. */
#include "ptx_int.h"
#include "ptx_place.h"

#include <string.h>
#include <time.h>

#define XYZ(X, name, id) X(name ".x", id##_X) X(name ".y", id##_Y)          \
    X(name ".z", id##_Z)
#define SPECIALS(X)                                                         \
    XYZ(X, "%tid", TID) XYZ(X, "%ntid", NTID) XYZ(X, "%ctaid", CTAID)       \
    XYZ(X, "%nctaid", NCTAID)                                               \
    XYZ(X, "%clusterid", CTAID_AS_CLUSTER)                                  \
    XYZ(X, "%nclusterid", NCTAID_AS_CLUSTER)                                \
    XYZ(X, "%cluster_ctaid", ZERO) XYZ(X, "%cluster_nctaid", ONE)           \
    X("%laneid", LANEID) X("%warpid", WARPID) X("%nwarpid", NWARPID)        \
    X("%smid", SMID) X("%nsmid", NSMID) X("%gridid", GRIDID)                \
    X("%clock", CLOCK) X("%clock_hi", CLOCK_HI) X("%clock64", CLOCK64)      \
    X("%globaltimer", GLOBALTIMER) X("%globaltimer_lo", CLOCK_LO)           \
    X("%globaltimer_hi", GLOBALTIMER_HI)                                    \
    X("%lanemask_eq", MASK_EQ) X("%lanemask_lt", MASK_LT)                   \
    X("%lanemask_le", MASK_LE) X("%lanemask_gt", MASK_GT)                   \
    X("%lanemask_ge", MASK_GE)                                              \
    X("%dynamic_smem_size", DYNAMIC) X("%total_smem_size", TOTAL)           \
    X("%cluster_ctarank", RANK_ZERO) X("%cluster_nctarank", RANK_ONE)       \
    X("%is_explicit_cluster", NOT_CLUSTER)                                  \
    X("%envreg1", WORKSPACE_HI) X("%envreg2", WORKSPACE_LO)                 \
    X("%reserved_smem_offset_begin", RESERVED)                              \
    X("%reserved_smem_offset_end", RESERVED_END)                            \
    X("%reserved_smem_offset_cap", RESERVED_CAP)                            \
    X("%reserved_smem_offset_0", RESERVED_0)                                \
    X("%reserved_smem_offset_1", RESERVED_1)
#define X(name, id) id,
enum special { SPECIALS(X) };
#undef X

int ptx_special(const char *name)
{
#define X(name, id) name,
    static const char *const names[] = { SPECIALS(X) };
#undef X

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name))
            return (int)i;
    return -1;
}

uint64_t ptx_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t place(const struct thread *t, enum special s)
{
    const struct ptx_launch *l = t->b->g->l;
    const unsigned ntid[] = { l->block.x, l->block.y, l->block.z };
    const unsigned nctaid[] = { l->grid.x, l->grid.y, l->grid.z };

    if (s <= TID_Z)
        return t->tid[s - TID_X];
    if (s <= NTID_Z)
        return ntid[s - NTID_X];
    if (s <= CTAID_Z)
        return t->b->id[s - CTAID_X];
    if (s <= NCTAID_Z)
        return nctaid[s - NCTAID_X];
    if (s <= CTAID_AS_CLUSTER_Z)
        return t->b->id[s - CTAID_AS_CLUSTER_X];
    return nctaid[s - NCTAID_AS_CLUSTER_X];
}

static uint64_t clocks(const struct thread *t, enum special s)
{
    uint64_t now = ptx_now();

    ((struct thread *)(uintptr_t)t)->polls++;
    if (s == CLOCK || s == CLOCK_LO)
        return (uint32_t)now;
    return s == CLOCK_HI || s == GLOBALTIMER_HI ? now >> 32 : now;
}

static uint64_t special(const struct thread *t, enum special s)
{
    const struct ptx_launch *l = t->b->g->l;
    unsigned lane = t->number % WARP, bit = 1u << lane;

    if (s <= NCTAID_AS_CLUSTER_Z)
        return place(t, s);
    switch (s) {
    case LANEID: return lane;
    case WARPID: return t->number / WARP;
    case NWARPID: return (t->b->n + WARP - 1) / WARP;
    case SMID: return (t->b->id[0] + t->b->id[1]) % PTX_PROCESSORS;
    case NSMID: return PTX_PROCESSORS;
    case CLOCK: case CLOCK_LO: case CLOCK_HI: case CLOCK64:
    case GLOBALTIMER: case GLOBALTIMER_HI:
        return clocks(t, s);
    case MASK_EQ: return bit;
    case MASK_LT: return bit - 1;
    case MASK_LE: return bit | (bit - 1);
    case MASK_GT: return (uint32_t)~(bit | (bit - 1));
    case MASK_GE: return (uint32_t)~(bit - 1);
    case DYNAMIC: return l->shared;
    case TOTAL: return t->b->shared_size;
    case WORKSPACE_HI: return t->b->g->workspace >> 32;
    case WORKSPACE_LO: return (uint32_t)t->b->g->workspace;
    case RESERVED: case RESERVED_END: case RESERVED_CAP: case RESERVED_0:
    case RESERVED_1:
        return t->b->shared_size;       /* none */
    case ONE_X: case ONE_Y: case ONE_Z: case RANK_ONE: return 1;
    default: return 0;
    }
}

static uint64_t address(const struct thread *t, const struct var *v)
{
    switch (v->space) {
    case LOCAL: return t->f->local + v->at;
    case GLOBAL: case CONST: return t->f->fn->module->base + v->at;
    default: return v->at;
    }
}

uint64_t ptx_get_other(const struct thread *t, const struct operand *o)
{
    switch (o->kind) {
    case O_REG: return !t->r[o->slot];
    case O_NUMBER: return o->value;
    case O_SPECIAL: return special(t, (enum special)o->slot);
    case O_VAR: return address(t, o->var) + o->value;
    case O_FUNC: return (uint64_t)(uintptr_t)o->func;
    default: return 0;
    }
}
