/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_ring.h - pieces of host memory between a device and the network.
 *
 * Memory that only the device reaches is copied, by the device, to and from
 * pieces that it and the network both know: pinned and registered when the
 * first device memory can come into a job, so that no operation pays for it.
 * One half is for what this PE starts (ofi_stage.c), the other for what peers
 * ask of it (ofi_land.c): the first may wait for the second of a peer, and
 * this one waits for nobody, so no two PEs wait for each other.
 *
 * A piece goes from step to step, in whatever thread lets operations advance:
 * a step starts a copy, a transfer or a message, whose end calls the next. */
#ifndef OFI_OFI_RING_H
#define OFI_OFI_RING_H

#include "ofi/ofi_am.h"
#include "ofi/ofi_int.h"

enum { OFI_PIECES = 16 };       /* in each half */
enum ofi_half { OFI_MINE, OFI_THEIRS };
enum ofi_way { OFI_OUT, OFI_IN };       /* of device memory */

struct ofi_piece;
/* False: there is no room for it now, it is to be taken again. */
typedef bool ofi_step(struct ofi_piece *p);

struct ofi_piece {
    struct ofi_op op;
    ofi_step *step;             /* the next */
    int watched;                /* atomic: ofi_ring_progress is to take it */
    int flies;                  /* atomic: counted in ofi_ring_flying */
    int waits;                  /* atomic: ends that the next step waits for */
    bool copies;                /* it waits for a copy: number turn of way */
    enum ofi_way way;
    uint64_t turn;
    void *event;
    char *bytes;                /* OFI_PIECE of them */
    struct ofi_am_head *mail;   /* what is sent */
    uint32_t uses;              /* atomic; odd while a peer is to answer */
    enum ofi_half half;

    /* The transfer. */
    struct ofi_am_head ask;     /* THEIRS: what the peer wants */
    struct xport_addr far;        /* MINE: from here on */
    char *near;
    size_t len;
    uint64_t *left;             /* atomic; counted down, or NULL */
    bool put, device, direct;   /* far is a device; near is told to the peer */
};

/* Does nothing where it is open.  0 or an error, logged. */
int ofi_ring_open(void);
void ofi_ring_close(void);

/* A free one, or NULL. */
struct ofi_piece *ofi_piece_take(enum ofi_half half);
void ofi_piece_give(struct ofi_piece *p);
/* Is there a free one, or is one made when it is wanted? */
bool ofi_piece_room(enum ofi_half half);

/* Takes the step now, or as soon as there is room. */
void ofi_piece_go(struct ofi_piece *p, ofi_step *step);
/* The device copies; then the step is taken. */
void ofi_piece_copy(struct ofi_piece *p, enum ofi_way way, void *to,
                    const void *from, size_t n, ofi_step *then);

/* Memory that peers reach: of this PE for their part, of a peer for ours. */
struct ofi_lent {
    uint64_t addr, key;
};
struct ofi_lent ofi_piece_lent(const struct ofi_piece *p);
void *ofi_piece_desc(void);
/* Posts a transfer between local memory and a peer's; then the step is taken.
 * False: there is no room for it now, and the step remains. */
bool ofi_piece_read(struct ofi_piece *p, struct ofi_ep *e, void *to, size_t n,
                    const struct ofi_lent *from, ofi_step *then);
bool ofi_piece_write(struct ofi_piece *p, struct ofi_ep *e, const void *from,
                     size_t n, const struct ofi_lent *to, ofi_step *then);
/* Sends p->mail to p->op.pe; then, and with answer after that has come, too,
 * the step is taken. */
bool ofi_piece_mail(struct ofi_piece *p, struct ofi_ep *e, bool answer,
                    ofi_step *then);

/* Completions. */
void ofi_piece_done(struct ofi_op *op);
void ofi_piece_failed(struct ofi_op *op);
void ofi_piece_answered(const struct ofi_am_head *h);

/* Pieces that the network has: their next step wants a look at its queues. */
extern int ofi_ring_flying;     /* atomic */
static inline bool ofi_ring_flies(void)
{
    return __atomic_load_n(&ofi_ring_flying, __ATOMIC_SEQ_CST);
}
/* Copies that ended, steps that found no room.  How many? */
extern int ofi_ring_watched;    /* atomic */
int ofi_ring_look(void);
static inline bool ofi_ring_watches(void)
{
    return unlikely(__atomic_load_n(&ofi_ring_watched, __ATOMIC_RELAXED));
}
static inline int ofi_ring_progress(void)
{
    return ofi_ring_watches() ? ofi_ring_look() : 0;
}

/* ---- ofi_stage.c: false where no piece is needed ---- */
bool ofi_stage_put(struct xport_ep *f, const struct xport_addr *to,
                   const void *source, size_t len, bool nbi)
    __attribute__((cold));
bool ofi_stage_get(struct xport_ep *f, void *dest,
                   const struct xport_addr *from, size_t len, bool nbi)
    __attribute__((cold));

/* What its last step started has failed: the piece is given back. */
void ofi_stage_failed(struct ofi_piece *p) __attribute__((cold));

/* ---- ofi_land.c ---- */
/* A peer asks for it.  False: too much is asked for at once, come again. */
bool ofi_land(const struct ofi_am_head *h);
void ofi_land_open(void);
/* Is any of it under way? */
bool ofi_land_busy(void);

#endif
