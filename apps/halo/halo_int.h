/* SPDX-License-Identifier: BSD-3-Clause */
/* halo_int.h - a halo inside: what its modes share, and what each does. */
#ifndef HALO_INT_H
#define HALO_INT_H

#include "halo.h"

#include "kernels.inc"
#include <shmemx_trig.h>

/* How messages go.  All but open and close only enqueue, or, of the host, wait;
 * halo->round is that of the call. */
struct halo_engine {
    int sets;                           /* of buffers: 1 or 2 */
    bool packs;                         /* send() packs, too */
    void (*open)(struct halo *h);
    void (*before)(struct halo *h);     /* before the round is packed */
    void (*send)(struct halo *h);       /* what is packed */
    void (*wait)(struct halo *h);       /* for all of the round */
    void (*close)(struct halo *h);
    uint64_t (*received)(const struct halo *h);
};
/* halo_put.c: puts with signal by the host, which ki has, too, outside of its
 * kernels. */
struct put_state {
    uint64_t *arrived;          /* [sides], symmetric host memory */
    int absent[SIDES_MAX];      /* sides that nothing is waited for */
    unsigned long *came;        /* of ki: symmetric device memory */
    unsigned groups;            /* of ki: in each kernel */
    shmemx_trig_t trig;         /* of kt, or NULL */
    uint64_t sent[2];           /* of kt: puts of each tag of the phase */
};
void put_open(struct halo *h);
void put_close(struct halo *h);
uint64_t put_received(const struct halo *h);
void put_send(struct halo *h);
void put_wait(struct halo *h);

/* halo_ki.c: what kernels need to know of any engine's halo. */
struct exchange;
void exchange_describe(const struct halo *h, struct exchange *out);
/* For those that have nothing to do before. */
void halo_nothing(struct halo *h);
extern const struct halo_engine halo_host, halo_put_signal, halo_send,
    halo_ready_send, halo_part, halo_ki, halo_kt;

struct halo {
    struct halo_what what;
    const struct halo_engine *engine;
    struct device *device, by_host;     /* by_host: of cpu */
    uint64_t round;
    struct halo_side side[SIDES_MAX];   /* the lists are the caller's */
    size_t at[SIDES_MAX + 1];           /* where a side's values begin */
    int neighbours;                     /* sides that have one */
    /* Of either phase, which may have the same; symmetric device memory: */
    double *out[2], *in[2];
    unsigned *lists;
    struct gathering pack[2][SIDES_MAX], spoilt[2];
    int spoilt_side;                    /* the last one that is sent */
    struct scattering unpack[2];
    void *state;                        /* the engine's own */
};

#endif
