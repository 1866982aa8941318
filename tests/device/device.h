/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - what the tests of device memory share.
 *
 * The processor may not touch device memory, so its content is set and read by
 * puts and gets of this PE to itself, and the same programs run on a device in
 * software, on stand-ins for GPUs and on GPUs. */
#ifndef TESTS_DEVICE_H
#define TESTS_DEVICE_H

#include "../t.h"

#include <shmem.h>
#include <shmem_space.h>

/* Symmetric places first. */
enum place { HOST, DEVICE, SYMMETRIC, OWN = SYMMETRIC, OWN_DEVICE, PLACES };

extern int me, n_pes, next, before;     /* neighbours in a ring */
extern bool aware;              /* there is private device memory */

/* The GPU's driver is the program's, too, before the library starts. */
void device_begin(int thread_level);
int device_end(void);

/* Symmetric places: collective.  Aligned to 64 bytes.  On a software device
 * private device memory is host memory. */
void *room_make(enum place where, size_t size);
void room_drop(enum place where, void *p);

/* Private device memory, also before device_begin has started the library: of
 * cuMemAlloc or hipMalloc; with T_OWN=pool of a memory pool; with T_OWN=pieces,
 * of CUDA, the middle of it is where one piece of memory ends and another one
 * begins. */
void *own_device_make(size_t size);
void own_device_drop(void *p);

/* By a bounce buffer in symmetric host memory. */
void store(void *to, const void *from, size_t size);
void load(void *to, const void *from, size_t size);
void store_word(void *to, uint64_t value, size_t size);
uint64_t load_word(const void *from, size_t size);
void store_byte(void *to, int byte, size_t size);
/* A line "PID WORD" in the stand-ins' log of calls, if there is one. */
void mark(const char *word);
/* The bytes at p are those. */
void expect(const void *p, const void *want, size_t size);

/* Bytes that only that PE in that round has at that place. */
static inline unsigned char byte_of(int pe, unsigned round, size_t at)
{
    return (unsigned char)((unsigned)pe * 89u + round * 31u +
                           (unsigned)(at * 2654435761u >> 7) + (unsigned)at);
}
void pattern(unsigned char *to, int pe, unsigned round, size_t size);

static inline void settle(shmem_ctx_t ctx)
{
    if (ctx != SHMEM_CTX_DEFAULT)
        shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

#endif
