/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_soft.h - what a processor's thread can do and know where the device is
 * software: its streams run in this process. */
#ifndef GTL_GTL_SOFT_H
#define GTL_GTL_SOFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Are its kernels threads of this process?  They reach all its memory. */
bool gtl_is_software(void);
/* This process has stored words that streams may wait for, and a full fence
 * has passed: those of the software device look at once. */
void gtl_stored(void);
/* host_call() on the software device, for what a GPU does by one store. */
int gtl_doorbell(void (*fn)(void *arg), void *arg, void *s);
/* In a function that such a stream calls: is one of call(fn) what the stream has
 * next? */
bool gtl_comes(void (*fn)(void *arg));
/* In a function that such a stream calls: what is behind it is never done. */
void gtl_drop_rest(void);
/* On the software device: -EINVAL if it is no stream, or one that is
 * destroyed.  A GPU's driver, which may crash on one, is not asked. */
int gtl_known(void *s);
/* So many operations of the caller's end with what was enqueued there last.
 * Does the stream still have to come to the end of one?  Is not known of GPUs:
 * false. */
void gtl_ops(void *s, uint64_t n);
bool gtl_owes(void *s);
/* What was enqueued there so far: has the stream come past it?  A stream that
 * is gone has.  False: it is a GPU's, or one whose stores are to cost something
 * (SHMEM_DEVICE_COSTS), so that a store has to tell. */
bool gtl_place(void *s, uint64_t *place);
bool gtl_past(void *s, uint64_t place);
/* The thread sleeps until the event is over, for at most so long.  False: it
 * is a GPU's, and nobody slept. */
bool gtl_doze(void *event, uint64_t ns);
/* The streams of the software device, but for the library's own, end what they
 * do now and begin nothing more; nobody enqueues.  Have all come so far?
 * *ops: so many operations of gtl_ops are never done. */
void gtl_halt(void);
bool gtl_halted(uint64_t *ops);

#endif
