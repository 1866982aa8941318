/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_stage_pool.h - fragments of host memory between a device and the network.
 *
 * Memory that only the device reaches is copied, by the device, to and from
 * frags that it and the network both know: pinned and registered when the
 * first device memory can come into a job, so that no operation pays for it.
 * One side is for what this PE starts (ofi_stage_initiator.c), the other for
 * what peers ask of it (ofi_stage_target.c): the first may wait for the second
 * of a peer, and that one waits for no side, so no two PEs wait for each other.
 *
 * A frag goes from step to step, in any thread that advances operations:
 * a step starts a copy, a transfer or a message, whose end calls the next. */
#ifndef OFI_STAGE_OFI_STAGE_POOL_H
#define OFI_STAGE_OFI_STAGE_POOL_H

#include "ofi/am/ofi_am_wire.h"
#include "ofi/net/ofi_int.h"

enum { OFI_FRAGS = 16 };       /* in each side */
enum ofi_frag_side { OFI_INITIATOR, OFI_TARGET };
enum ofi_copy_dir { OFI_FROM_DEVICE, OFI_TO_DEVICE };  /* of device memory */

struct ofi_frag;
/* False: there is no room for it now, it is to be taken again. */
typedef bool ofi_step(struct ofi_frag *p);

struct ofi_frag {
    struct ofi_op op;
    ofi_step *step;             /* the next */
    /* The last step's operation has failed: frees the fragment. */
    void (*failed)(struct ofi_frag *p);
    int polled;                /* atomic: ofi_stage_progress is to take it */
    int in_network;             /* atomic: counted in ofi_stage_in_network */
    int waits;                  /* atomic: ends that the next step waits for */
    bool copies;                /* it waits for copy number turn of copy_dir */
    enum ofi_copy_dir copy_dir;
    uint64_t turn;
    void *event;
    char *bytes;                /* OFI_FRAG_SIZE of them */
    struct ofi_am_head *msg;   /* what is sent */
    struct ofi_ep *sends;       /* it is being sent there, or NULL */
    uint32_t uses;              /* atomic; odd while a peer is to answer */
    enum ofi_frag_side side;

    /* The transfer. */
    struct ofi_am_head request;     /* OFI_TARGET: of the peer */
    struct xport_addr remote;       /* OFI_INITIATOR: from here on */
    char *local;
    size_t len;
    uint64_t *left;             /* atomic; counted down, or NULL */
    bool put;
    bool device;                /* remote is device memory */
    bool direct;                /* the peer accesses local itself */
};

/* Does nothing where it is open.  0 or an error, logged. */
int ofi_stage_pool_open(void);
void ofi_stage_pool_close(void);

/* A free one, or NULL. */
struct ofi_frag *ofi_frag_alloc(enum ofi_frag_side side);
void ofi_frag_free(struct ofi_frag *p);
/* Is there a free one, or is one made when it is wanted? */
bool ofi_frag_available(enum ofi_frag_side side);

/* Takes the step now, or as soon as there is room. */
void ofi_frag_run(struct ofi_frag *p, ofi_step *step);
/* The device copies; then the step is taken. */
void ofi_frag_copy(struct ofi_frag *p, enum ofi_copy_dir copy_dir, void *to,
                    const void *from, size_t n, ofi_step *then);

/* Memory that peers reach: of this PE for their part, of a peer for ours. */
struct ofi_remote_buf {
    uint64_t addr, key;
};
struct ofi_remote_buf ofi_frag_remote(const struct ofi_frag *p);
void *ofi_frag_desc(void);
/* Posts a transfer between local memory and a peer's; then the step is taken.
 * False: there is no room for it now, and the step remains. */
bool ofi_frag_read(struct ofi_frag *p, struct ofi_ep *e, void *to, size_t n,
                    const struct ofi_remote_buf *from, ofi_step *then);
bool ofi_frag_write(struct ofi_frag *p, struct ofi_ep *e, const void *from,
                     size_t n, const struct ofi_remote_buf *to, ofi_step *then);
/* Sends p->msg to p->op.pe; then, and with answer after that has come, too,
 * the step is taken. */
bool ofi_frag_send(struct ofi_frag *p, struct ofi_ep *e, bool answer,
                    ofi_step *then);

/* Handles OFI_AM_DONE. */
bool ofi_frag_replied(const struct ofi_am_head *h);

/* Pieces that the network has: their next step wants a look at its queues. */
extern int ofi_stage_in_network;     /* atomic */
/* Copies that ended, steps that found no room.  How many? */
extern int ofi_stage_polled;    /* atomic */
int ofi_stage_poll(void);

/* ---- ofi_stage_initiator.c ---- */
/* More than that a blocking put leaves where it is, if the NIC reaches it. */
enum { OFI_STAGE_COPIED = 16384 };
/* Do NICs, a peer's or this PE's, reach that memory? */
bool ofi_stage_is_registered(const void *p, size_t len);
void ofi_stage_put(struct xport_ctx *f, const struct xport_addr *to,
                   const void *source, size_t len, bool nbi)
    __attribute__((cold));
void ofi_stage_get(struct xport_ctx *f, void *dest,
                   const struct xport_addr *from, size_t len, bool nbi)
    __attribute__((cold));

/* ---- ofi_stage_target.c ---- */
/* A peer asks for it.  False: too much is asked for at once, come again. */
bool ofi_stage_target_start(const struct ofi_am_head *h);
void ofi_stage_target_open(void);
extern int ofi_stage_target_busy;       /* atomic: fragments in use */

#endif
