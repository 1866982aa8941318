/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.h - communication that kernels initiate: the state that a kernel gets,
 * and the rings of requests that the progress thread answers.
 *
 * The loads and stores of a kernel itself are in include/shmemx_dev*.h; this
 * layer fills the state that these headers read.  A state belongs to a
 * device context and has rings of its own, whose requests are executed as
 * operations of a stream are, by stream_exec_step().
 *
 * Threads: any call from any thread, after core is up.  Calls give 0 or -errno,
 * logged. */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include "core/core.h"
#include "shmemx_dev.h"

/* The first call opens the layer, for which the device is open: its states of
 * the default context and of the predefined device teams. */
int kernel_open(const char *call);
bool kernel_is_open(void);
/* No kernel runs any more. */
void kernel_close(void);
/* A device heap has been opened: states say where it is. */
void kernel_heap_opened(void);

/* The state of a context made with SHMEM_DEVICE_CTX, or of
 * SHMEM_DEVICE_CTX_DEFAULT, which is made unless it exists.  -EINVAL: it is no
 * such context; -ENOMEM. */
int kernel_state(const char *call, shmem_ctx_t ctx, shmemx_dev_t *out);
/* Before the context is destroyed: its requests are complete. */
void kernel_ctx_close(const char *call, shmem_ctx_t ctx);
/* For kernels of the software device: never NULL. */
const shmemx_dev_t *kernel_default(void);

/* ---- copies of the default context's state in modules of a GPU ---- */
/* 0; -ENOENT: there is no place for it; -EINVAL; -ENOSYS; -ENOMEM.  The layer is
 * open. */
int kernel_module_init(const char *call, void *module);
/* -EINVAL: it was not initialized. */
int kernel_module_finalize(const char *call, void *module);
/* At any time.  symbol: 0, an error, or a negative value: no kernels. */
void kernel_code_register(int (*symbol)(void **address), size_t size);
void kernel_code_unregister(int (*symbol)(void **address));
/* Fills what was registered before the runtime knew the code. */
void kernel_code_retry(void);

/* ---- hits of triggers ---- */
struct kernel_hit {
    const char *call;
    void *trig;                 /* the program's handle */
    int tag, pe;
    uint64_t n;
    enum shmemi_dev_hit how;    /* REPLACES: the operation gets what follows,
                                 * and pe */
    void *dest;
    const void *source;
    size_t len;
    bool asks;                  /* for what has completed: no hit */
    bool copied;                /* one that the kernel may have counted itself */
};
/* A sum of the bytes that the puts of the tag send, which differs when they do; 0
 * where further hits than these n start one, whose data others may still store.
 * Set with kernel_hit. */
extern hidden uint64_t (*kernel_sources_sum)(void *trig, int tag, uint64_t n);
uint64_t kernel_sum(uint64_t sum, const void *p, size_t len);
/* A line, and the end of the job. */
_Noreturn void kernel_hit_refuse_freed(const struct kernel_hit *h);
/* The layer of triggers takes hits of kernels; false: not now.  NULL: there are
 * no triggers. */
extern hidden bool (*kernel_hit)(const struct kernel_hit *h);

/* Names what a kernel waits for by the word that it polls, for lines: false, it
 * is none of these, or that is not known just now.  NULL: there are none. */
extern hidden struct kernel_names {
    bool (*trigger)(const void *word, char *text, size_t size);
    bool (*partition)(const void *word, char *text, size_t size);
} kernel_names;

/* ---- teams ---- */
/* Kernels know a split of a device team from now on.  0; -ENOMEM, logged:
 * calls of kernels refuse it. */
int kernel_team_open(const struct core_team *t);
/* No longer, nor its contexts. */
void kernel_team_close(const char *call, const struct core_team *t);

#endif
