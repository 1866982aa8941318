/* SPDX-License-Identifier: BSD-3-Clause */
/* dev_kernel.h - the part of dev.h that is about kernels: those that poll a
 * word, and the program's own. */
#ifndef FAKE_DEV_KERNEL_H
#define FAKE_DEV_KERNEL_H

#include "dev.h"

/* A kernel that polls the word, 8 bytes; call: for the log. */
void dev_spin(struct dev_stream *s, const char *call, void *word,
              uint64_t value, uint64_t mask, enum dev_compare how);

/* ---- dev_spin.c: kernels that spin ---- */
/* Keeps other processes' kernels of this job off the device, until as many
 * dev_let().  False: another process does. */
bool dev_hold(int device);
void dev_let(int device);
bool dev_kept_out(int device);
/* Has one of this process looked at its word? */
bool dev_polling(void);
/* What a kernel that polls n bytes there sees: coarse-grained memory as it was
 * at dev_poll_begin(), but for what kernels of its own process have stored. */
struct dev_poll {
    struct dev_poll *next;
    uint64_t *at, seen;
    bool coarse, acquires;
};
void dev_poll_begin(struct dev_poll *p, uint64_t *at, bool coarse);
uint64_t dev_poll(struct dev_poll *p);
void dev_poll_end(struct dev_poll *p);
/* A kernel has stored there, as dev_reach() has it; n 0: anywhere. */
void dev_stored(const void *at, size_t n);

/* A kernel that the program compiles, for the processor: the array
 * `dev_kernels` of FAKE_DEVICE_KERNELS, which ends in a NULL name.  Its one
 * argument is a structure by value whose first words are addresses. */
struct dev_item {
    unsigned group, item, phase, groups, items;
};
struct dev_kernel {
    const char *name;
    void (*body)(const struct dev_item *item, const void *arg);
    unsigned phases, pointers;
    size_t size;                /* of the argument */
};
/* NULL: none has that name. */
const struct dev_kernel *dev_kernel_find(const char *name);
/* -EINVAL: the argument is too large. */
int dev_kernel_run(struct dev_stream *s, const struct dev_kernel *k,
                   unsigned groups, unsigned items, const void *arg);

#endif
