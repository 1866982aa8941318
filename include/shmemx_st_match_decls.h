/* SPDX-License-Identifier: BSD-3-Clause */
/* Included by shmemx_st.h, once for each kind of name.
 * Messages between a sender and a receiver that name each other: the PE, of
 * the world, and a tag; there are no wildcards.  Calls give 0 or a negative
 * errno, with a line. */

/* ---- Persistent: made once, matched once, started as often as one likes ----
 * Local calls.  bytes from buf, or at most so many to it: any memory of this
 * PE, symmetric or private, of host or device.  tag >= 0.  The n-th send that
 * is made for a PE and tag is for the n-th receive that is made there for this
 * PE and tag.  rsend: whoever starts it knows that the receiver has started
 * its receive in that round, or that round's data is undefined. */
int SHMEMI_P(shmemx_send_init)(const void *buf, size_t bytes, int pe, int tag,
                               shmemx_req_t *req);
int SHMEMI_P(shmemx_rsend_init)(const void *buf, size_t bytes, int pe, int tag,
                                shmemx_req_t *req);
int SHMEMI_P(shmemx_recv_init)(void *buf, size_t bytes, int pe, int tag,
                               shmemx_req_t *req);

/* Returns when the partners of all have been found; while it waits, those that
 * others look for here are found, too.  What is matched already is left alone.
 * -EMSGSIZE: a send is longer than its receive, -ECANCELED: the partner was
 * freed before it was matched, both at both ends; then the others are matched
 * nonetheless.  -EINVAL: one is not of the three kinds above, and nothing is
 * done. */
int SHMEMI_P(shmemx_match)(shmemx_req_t req);
int SHMEMI_P(shmemx_matchall)(int n, shmemx_req_t reqs[]);
/* The same, and *match becomes a request that ends with it: req_test and
 * req_wait complete it and give its error, req_free frees it. */
int SHMEMI_P(shmemx_imatch)(shmemx_req_t req, shmemx_req_t *match);
int SHMEMI_P(shmemx_imatchall)(int n, shmemx_req_t reqs[],
                               shmemx_req_t *match);
/* Completes nothing: *flag is 1 where it is matched, else 0. */
int SHMEMI_P(shmemx_is_matched)(shmemx_req_t req, int *flag);

/* ---- Used once, by the queue's next start ----
 * The n-th send of this PE to a PE with a tag is for the n-th receive that is
 * enqueued there for this PE and tag, in whatever queues.  Neither call nor
 * start waits for the partner; a message that is too long fails at both ends
 * (-EMSGSIZE where the host waits for its request, -EIO once where it waits for
 * all, with a line), and counts as done. */
int SHMEMI_P(shmemx_enqueue_send)(shmemx_queue_t queue, const void *buf,
                                  size_t bytes, int pe, int tag,
                                  shmemx_req_t *req);
int SHMEMI_P(shmemx_enqueue_recv)(shmemx_queue_t queue, void *buf,
                                  size_t bytes, int pe, int tag,
                                  shmemx_req_t *req);

/* ---- Collective and persistent: started and waited for like a message ----
 * All members of the team call it in the same order, and it returns when all
 * have: with a request for each, or for none.  All free theirs.  Each starts
 * its own, on any queue, in whatever order with its other requests. */
int SHMEMI_P(shmemx_barrier_init)(shmem_team_t team, shmemx_req_t *req);
/* dest = all sources combined, element by element, by the device; the same on
 * all members.  dest and source are memory that the device reaches, and may be
 * the same. */
int SHMEMI_P(shmemx_allreduce_init)(shmem_team_t team, void *dest,
                                    const void *source, size_t nelems,
                                    shmemx_type_t type, shmemx_op_t op,
                                    shmemx_req_t *req);
