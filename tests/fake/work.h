/* SPDX-License-Identifier: BSD-3-Clause */
/* work.h - deferred work of an endpoint that talks to itself, for tests. */
#ifndef FAKE_TEST_WORK_H
#define FAKE_TEST_WORK_H

#include "fabric.h"

#include <rdma/fi_trigger.h>

enum { WORDS = 512, TX = 64, CNTRS = 4 };

struct cntr_ops {
    int (*set_wb_buffer)(struct fid *fid, void *buf, size_t len);
    int (*get_mmio_addr)(struct fid *fid, void **addr, size_t *len);
};

struct dom_ops {
    int (*cntr_read)(struct fid *fid, unsigned cntr, uint64_t *value,
                     struct timespec *ts);
    int (*topology)(struct fid *fid, unsigned *group, unsigned *path,
                    unsigned *port);
    int (*enable_hybrid_mr_desc)(struct fid *fid, bool enable);
    size_t (*ep_get_unexp_msgs)(struct fid_ep *ep, void *entry, size_t count,
                                fi_addr_t *source, size_t *found);
    int (*get_dwq_depth)(struct fid *fid, size_t *depth);
};

/* What begin() opens: regions of the words that are written to (of those, the
 * second half is one of its own with a counter when counted is set) and of
 * those that are read. */
extern struct node me;
extern _Atomic uint64_t word[WORDS];
extern uint64_t source[WORDS];
extern struct fid_mr *mr, *source_mr;
extern fi_addr_t self;
extern struct fid_cntr *cntr[CNTRS];
extern volatile uint64_t *doorbell[CNTRS];
extern struct cntr_ops *cntr_ops;
extern struct dom_ops *dom_ops;

void begin(uint64_t more_caps, bool hybrid);
void end(void);

/* Queue work; trigger and completion are numbers of counters, -1 is none.
 * Descriptors are overwritten afterwards: they may not be read again. */
int queue(struct fi_deferred_work *w, int trigger, uint64_t threshold,
          int completion);

struct rma {
    int word;
    const void *buf;            /* and context */
    size_t len;                 /* 0: 8 */
    uint64_t flags, key;        /* 0: of word */
    enum fi_op_type type;       /* 0: FI_OP_WRITE */
    size_t iovs;                /* 0: 1 */
};
int put(struct rma r, int trigger, uint64_t threshold, int completion);

struct amo {
    int word;
    void *buf;                  /* and context */
    enum fi_op op;
    void *result, *compare;     /* which of the three it is */
    uint64_t flags;
    size_t count;               /* 0: 1 */
    void *desc;
};
int amo(struct amo a, int trigger, uint64_t threshold, int completion);
int message(enum fi_op_type type, void *buf, size_t len, int trigger,
            uint64_t threshold, int completion);
int increment(enum fi_op_type type, int target, uint64_t value, int trigger,
         uint64_t threshold, int completion);

/* Waits for it, 1 s at most. */
bool is(int i, uint64_t value);
bool counts(int i, uint64_t value);
/* Gives credits back; how many entries there were. */
int reap(void);

#endif
