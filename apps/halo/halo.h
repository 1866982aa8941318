/* SPDX-License-Identifier: BSD-3-Clause */
/* halo.h - what a block of an array sends its neighbours and gets from them,
 * round after round:
 *
 *     h = halo_create(&what);         collective
 *     for (...) {
 *         a kernel computes halo_array(h)
 *         halo_gather(h);             packs what neighbours want, and sends it
 *         kernels that need no neighbour
 *         halo_scatter(h);            what neighbours sent, unpacked
 *     }
 *     halo_wait(h);                   until all of it has run
 *     halo_destroy(h);                collective
 *
 * All is in order of the device's stream.  The mode alone says who drives it:
 *   cpu  there is no device: this thread of the host computes, packs, puts
 *   host the host: it waits for the packing, puts, waits, starts the unpacking
 *   put-signal  the stream, by puts with signal; the host only enqueues
 *   send the stream, by sends and receives that were matched once
 *   ready-send  the same, by ready sends: no receiver notifies the sender of
 *        free buffers
 *   part the same by partitioned messages: the stream starts them, and the
 *        kernel that packs makes each part of a side ready as soon as it is
 *   ki   the kernel that computes: one for all rounds of a run, which a
 *        program enqueues in place of the loop, by halo_run(); rounds outside
 *        of it are the host's
 *   kt   the same, but the host has posted the puts, and the kernel triggers them
 * Rounds take turns between two arrays, which may be the same one, and between
 * two sets of buffers; only send and part need no second set.  In that, what a
 * neighbour sends for round k goes where round k - 2 was, and it sends only after
 * it has what this PE sent for round k - 1, that is, after round k - 2 was
 * unpacked here.  This needs no further message, but that sides go both ways.
 * What fails ends the job, with a line. */
#ifndef HALO_HALO_H
#define HALO_HALO_H

#include "device.h"
#include "grid.h"

enum halo_mode { HALO_CPU, HALO_HOST, HALO_PUT_SIGNAL, HALO_SEND,
                 HALO_READY_SEND, HALO_PART, HALO_KI, HALO_KT, HALO_MODES };
extern const char *const halo_mode_names[HALO_MODES];
/* Is a run one kernel? */
static inline bool halo_is_inside(enum halo_mode m)
{
    return m == HALO_KI || m == HALO_KT;
}

/* A side: what goes to one neighbour and what comes from there, n elements of
 * the array each.  Of all PEs alike but for pe. */
struct halo_side {
    int pe;                     /* -1: there is none */
    int opposite;               /* as what side that one has this PE: one PE may
                                 * be the neighbour of several sides */
    size_t n;
    const unsigned *from, *to;  /* places in the array, of what is sent, and of
                                 * where goes what comes */
};

struct halo_what {
    enum halo_mode mode;
    struct device *device;
    double *u[2];               /* in even rounds, in odd ones */
    const struct halo_side *side;
    int sides;                  /* at most SIDES_MAX */
    bool add;                   /* to what is there, else in its place; either
                                 * way it is added up where several sides have
                                 * the same place */
    unsigned groups;            /* of kernels that call the library; 0: as there
                                 * are cores */
    bool apart;                 /* a kernel packs for each side, not one for
                                 * all */
    long spoilt_round;          /* -1, or what is sent last in this round */
    double spoilt_by;           /* is off by this: to test a test */
};

struct halo;
struct halo *halo_create(const struct halo_what *what);
/* The same number of rounds has run on all PEs. */
void halo_destroy(struct halo *h);

/* A program's own kernels and copies are its: of cpu it is none of what->device. */
struct device *halo_device(struct halo *h);
int halo_phase(const struct halo *h);           /* 0, 1: even or odd round */
double *halo_array(const struct halo *h);       /* u of the present round */
void halo_gather(struct halo *h);
void halo_scatter(struct halo *h);              /* ends the round */
void halo_wait(struct halo *h);

/* Of modes ki and kt.  What halo_exchange() makes of the next round is the first member
 * of the kernel's argument, which stays as it is until the kernel has run; the
 * kernel makes so many rounds. */
struct exchange;
void halo_exchange(const struct halo *h, struct exchange *out);
void halo_run(struct halo *h, void *arg, long rounds);

/* How many messages have come, of all rounds; after halo_wait(). */
uint64_t halo_received(const struct halo *h);

#endif
