/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a grid: as many blocks side by side as the device holds, their threads
 * in turns of some hundred instructions.  For launch.c, by ptx.h, on the thread
 * of a stream.
 *
 * A grid whose threads only look gives the processor away: what they wait for
 * comes from other threads of this machine. */
#include "ptx_int.h"
#include "dev.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAST = 64, SPREAD = 255, YIELDS = 16, STUCK_S = 60 };

unsigned ptx_blocks_each(unsigned threads, size_t shared)
{
    enum { DRIVERS = 1024 };    /* bytes of each block */
    unsigned n = PTX_RESIDENT / ((threads + WARP - 1) / WARP * WARP);

    if ((PTX_SHARED_MOST + DRIVERS) / (shared + DRIVERS) < n)
        n = (unsigned)((PTX_SHARED_MOST + DRIVERS) / (shared + DRIVERS));
    return n > 16 ? 16 : n;
}

static void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

/* ---- blocks ---- */

static struct block *begin(struct grid *g, uint64_t k)
{
    const struct ptx_launch *l = g->l;
    struct block *b = must(calloc(1, sizeof *b));
    size_t shared = g->entry->module->shared + l->shared;

    b->g = g;
    b->id[0] = (unsigned)(k % l->grid.x);
    b->id[1] = (unsigned)(k / l->grid.x % l->grid.y);
    b->id[2] = (unsigned)(k / l->grid.x / l->grid.y);
    b->n = b->live = l->block.x * l->block.y * l->block.z;
    b->threads = must(calloc(b->n, sizeof *b->threads));
    b->shared = must(malloc(shared + 1));
    b->shared_size = shared;
    memset(b->shared, 0xa5, shared);
    for (unsigned i = 0; i < b->n; i++) {
        struct thread *t = &b->threads[i];

        t->b = b;
        t->number = i;
        t->tid[0] = i % l->block.x;
        t->tid[1] = i / l->block.x % l->block.y;
        t->tid[2] = i / l->block.x / l->block.y;
    }
    return b;
}

static void end(struct block *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        struct thread *t = &b->threads[i];

        while (t->f)
            ptx_pop(t);
        free(t->local);
    }
    free(b->threads);
    free(b->shared);
    free(b);
}

/* ---- threads ---- */

static bool enter(struct thread *t)
{
    struct grid *g = t->b->g;

    if (!ptx_push(t, g->entry)) {
        ptx_fault(t, g->entry->code, PTX_TRAP, "too much local memory",
                  g->entry->local_size);
        return false;
    }
    memcpy(t->f->param, g->l->params, g->entry->param_size);
    return true;
}

/* Of different lengths, so that threads meet each other in every state. */
static unsigned turn_length(struct grid *g)
{
    g->seed = g->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return LEAST + (unsigned)(g->seed >> 40) % SPREAD;
}

static void turn(struct thread *t)
{
    unsigned left = turn_length(t->b->g);
    const struct insn *i;

    t->polls = 0;
    if (!t->f && !enter(t))
        return;
    for (; left; left--) {
        i = &t->f->fn->code[t->f->pc++];
        if (i->guard >= 0 && !t->r[i->guard] != i->unless)
            continue;
        if (i->run(t, i) != CONTINUE)
            return;
    }
}

/* What the threads of a block have done in a round. */
struct round {
    bool moved;                 /* something changed, or is computed */
    unsigned ran, asleep;
};

static void stuck(struct block *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        struct thread *t = &b->threads[i];

        if (t->state != AT_BARRIER && t->state != AT_WARP)
            continue;
        ptx_fault(t, t->at, PTX_TRAP, t->state == AT_BARRIER
                  ? "a barrier that not all threads reach"
                  : "an operation of a warp that not all of the mask reach",
                  t->state == AT_BARRIER ? t->bar : t->mask);
        return;
    }
}

static void run_block(struct block *b, struct round *r)
{
    unsigned ran = 0, asleep = 0;

    for (unsigned i = 0; i < b->n && !b->g->fault; i++) {
        struct thread *t = &b->threads[i];

        if (t->state == SLEEPS) {
            asleep++;
            if (ptx_now() < t->until)
                continue;
            t->state = READY;
            asleep--;
        }
        if (t->state != READY)
            continue;
        ran++;
        turn(t);
        r->moved |= t->moved || !t->polls;
        t->moved = false;
    }
    if (!ran && !asleep && b->live && !b->g->fault)
        stuck(b);
    r->ran += ran;
    r->asleep += asleep;
}

/* ---- grids ---- */

static void rest(unsigned rounds)
{
    struct timespec t = { 0, 20000 };

    if (rounds < YIELDS) {
        sched_yield();
        return;
    }
    if (rounds > 10 * YIELDS)
        t.tv_nsec = 100000;
    nanosleep(&t, NULL);
}

static bool some_are_stuck(const struct grid *g)
{
    for (unsigned k = 0; k < g->running; k++)
        for (unsigned i = 0; i < g->blocks[k]->n; i++)
            if (g->blocks[k]->threads[i].state == AT_BARRIER ||
                g->blocks[k]->threads[i].state == AT_WARP)
                return true;
    return false;
}

/* Others wait at a barrier meanwhile: no thread is awaited for ever. */
static void check_for_end(struct grid *g, uint64_t since)
{
    if (ptx_now() - since < STUCK_S * 1000000000ULL || !some_are_stuck(g))
        return;
    for (unsigned k = 0; k < g->running && !g->fault; k++)
        stuck(g->blocks[k]);
}

static void fill(struct grid *g)
{
    while (g->running < g->resident && g->begun < g->total)
        g->blocks[g->running++] = begin(g, g->begun++);
}

static void one_round(struct grid *g, struct round *r)
{
    for (unsigned k = 0; k < g->running && !g->fault; k++) {
        struct block *b = g->blocks[k];

        run_block(b, r);
        if (b->live)
            continue;
        end(b);
        g->blocks[k--] = g->blocks[--g->running];
    }
}

static void run(struct grid *g)
{
    uint64_t since = 0;
    unsigned still = 0;

    for (fill(g); g->running && !g->fault; fill(g)) {
        struct round r = { false, 0, 0 };

        one_round(g, &r);
        if (r.moved) {
            still = 0;
            continue;
        }
        if (!still++)
            since = ptx_now();
        ptx_flush(g);
        if (dev_fault())
            return;
        check_for_end(g, since);
        rest(still);
    }
}

/* Words by which the blocks of such a launch wait for each other. */
static bool make_room(struct grid *g)
{
    enum { ROOM = 256 };
    void *p;

    if (!g->l->together)
        return true;
    if (dev_alloc(g->l->device, ROOM, ROOM, 0, &p))
        return false;
    g->workspace = (uintptr_t)p;
    memset(dev_reach(p, ROOM), 0, ROOM);
    return true;
}

int ptx_run(const struct ptx_launch *l)
{
    struct grid g = { .l = l, .entry = &l->kernel->func, .seed = 1 };
    unsigned threads = l->block.x * l->block.y * l->block.z;

    g.total = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
    g.resident = PTX_PROCESSORS * ptx_blocks_each(threads, l->shared);
    if (!g.resident)
        g.resident = 1;
    if (!make_room(&g))
        return -ENOMEM;
    g.blocks = must(calloc(g.resident, sizeof *g.blocks));
    run(&g);
    for (unsigned k = 0; k < g.running; k++)
        end(g.blocks[k]);
    free(g.blocks);
    if (g.workspace)
        dev_free((void *)(uintptr_t)g.workspace);
    fflush(stdout);
    return -g.fault;
}
