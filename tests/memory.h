/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - the memory in which a test's buffers lie.
 *
 * A test of tests/pe or tests/coll runs on host memory: the symmetric heap, static data and
 * private memory.  With T_MEMORY=device in the environment the same program has
 * device memory in place of static data; the scripts of tests/device start it
 * so, on a device in software, on stand-ins for GPUs and on GPUs.  The
 * processor may not touch device memory, so its content is set and read by puts
 * and gets of this PE to itself. */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

#include "byte_of.h"
#include "t.h"

#include <shmem.h>
#include <shmem_space.h>

/* Symmetric memories first.  OTHER: static data, or the device heap.
 * OTHER_PRIVATE: more private host memory, or memory of the GPU's driver; on a
 * software device that is host memory. */
enum memory {
    HOST, OTHER, SYMMETRIC, PRIVATE = SYMMETRIC, OTHER_PRIVATE, MEMORIES,
    DEVICE = OTHER, DEVICE_PRIVATE = OTHER_PRIVATE
};

extern int me, n_pes, next, before;     /* neighbours in a ring */
extern bool on_device;          /* OTHER is device memory */
extern bool has_device_private; /* of a GPU's driver */

/* Start the library and, before it, the GPU's driver.  device_begin is for
 * programs that are about device memory, whatever T_MEMORY says. */
void memory_begin(int thread_level);
void device_begin(int thread_level);
int memory_end(void);

/* Collective for symmetric memory.  Aligned to 64 bytes. */
void *mem_alloc(enum memory where, size_t size);
void mem_free(enum memory where, void *p);

/* Private device memory, also before device_begin has started the library: of
 * cuMemAlloc or hipMalloc; with T_OWN=pool of a memory pool; with T_OWN=pieces,
 * of CUDA, the middle of it is where one piece of memory ends and another one
 * begins. */
void *mem_alloc_private(size_t size);
void mem_free_private(void *p);

/* Through a bounce buffer in symmetric host memory. */
void mem_store(void *to, const void *from, size_t size);
void mem_load(void *to, const void *from, size_t size);
void mem_store_word(void *to, uint64_t value, size_t size);
uint64_t mem_load_word(const void *from, size_t size);
void mem_fill(void *to, int byte, size_t size);
/* Checks that the bytes at p are those at want. */
void mem_expect(const void *p, const void *want, size_t size);
/* A line "PID WORD" in the stand-ins' log of calls, if there is one. */
void mem_log(const char *word);

/* byte_of() of this PE and this round at each offset. */
void pattern(unsigned char *to, int pe, unsigned round, size_t size);

static inline void finish_transfers(shmem_ctx_t ctx)
{
    if (ctx != SHMEM_CTX_DEFAULT)
        shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

#endif
