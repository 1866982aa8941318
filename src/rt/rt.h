/* SPDX-License-Identifier: BSD-3-Clause */
/* rt.h - the job: this PE's number, and a slow channel to the others.
 * The channel is that of oshrun, or PMIx or PMI-2 of another launcher; a
 * process that no launcher started is a job of one PE and has no channel.
 * rt_open() to rt_close() run on one thread; rt_abort() may be called from any.
 * Errors: 0 or -errno, logged here. */
#ifndef RT_RT_H
#define RT_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rt_job {
    int pe, n_pes;
    /* The PEs of this node in rising order; this PE is local_pes[local]. */
    int local, n_local, *local_pes;
    bool one_machine;           /* nodes are made by SHMEM_PPN alone */
    bool launched;              /* a launcher answered */
};
extern struct rt_job rt_job;

int rt_open(void);
void rt_close(void);
/* The launcher's name of the job, or NULL. */
const char *rt_job_name(void);

/* Publish (before the fence), meet all PEs, and look up what PE pe published.
 * rt_get() wants exactly size bytes and gives -EMSGSIZE for any other number.
 */
int rt_put(const char *key, const void *value, size_t size);
int rt_fence(void);
int rt_get(int pe, const char *key, void *out, size_t size);
/* Called where a fence begins and where it has ended, on its thread; NULL: by
 * no upper layer. */
extern void (*rt_fence_watch)(bool begins);
/* Which PEs the fence of this PE still lacks, for a line, like "2 of 3 PEs
 * arrived; missing PE 1 (pid 4711, stopped)".  -ENOTSUP: the launcher does not
 * say; -EALREADY: the fence is over, or another PE reports it.  Any thread. */
int rt_fence_missing(char *out, size_t size);
/* The same of up to size bytes: *got there were. */
int rt_get_some(int pe, const char *key, void *out, size_t size, size_t *got);
/* For the PEs of this node alone: other nodes need not be sent it. */
int rt_put_on_node(const char *key, const void *value, size_t size);

/* Requests of this PE on that channel, since rt_open(). */
struct rt_counts {
    uint64_t puts, put_bytes, node_bytes, gets, got_bytes, fences;
};
extern struct rt_counts rt_counts;

/* Where the launcher passes descriptors between the PEs of a node: share one
 * with so many PEs before a fence, and take it after the fence.  *out is closed
 * at exec.  Only where rt_shares() is true. */
bool rt_shares(void);
int rt_share(int fd, int takers);
int rt_take(int pe, int *out);

/* The name of that PE's host, or false. */
bool rt_host(int pe, char *out, size_t size);

/* After a failure that the end of another PE explains: the launcher, which
 * names the first failure, gets a second to end this PE before it prints. */
void rt_await_end(void);

/* The processors this process may run on, as bits: how many words those of the
 * machine take. */
int rt_cpus(uint64_t *out, int len);
/* How many it may run on; 0: the system does not say. */
int rt_count_cpus(void);

/* Ends every PE of the job; the launcher's exit status is status.  The buffers
 * of stdio are written, unless that takes more than half a second. */
_Noreturn void rt_abort(int status);
/* The same after an error of the library, which has been printed: prints where,
 * and stops in a debugger, if the user wants it. */
_Noreturn void rt_fail(void);
/* Ends this process alone: for a forked child, which is no PE. */
_Noreturn void rt_leave(int status);

#endif
