/* SPDX-License-Identifier: BSD-3-Clause */
/* Included by shmemx_st.h, once for each kind of name.
 * Messages between a sender and a receiver that name each other: by the number
 * of the PE in the job, and a tag; there are no wildcards.  Calls return 0 or a
 * negative errno, with a line. */

/* ---- Persistent messages: created once, matched once, started repeatedly ----
 * Local calls.  They send bytes of buf, or receive at most that many into it;
 * buf is any memory of this PE, symmetric or private, of host or device.
 * tag >= 0.  The n-th send created for a PE and tag matches the n-th receive
 * created there for this PE and tag.  rsend, a ready send: the program
 * guarantees that the receiver has started its receive in that iteration;
 * otherwise the data of that iteration is undefined. */
int SHMEMI_P(shmemx_send_init)(const void *buf, size_t bytes, int pe, int tag,
                               shmemx_req_t *req);
int SHMEMI_P(shmemx_rsend_init)(const void *buf, size_t bytes, int pe, int tag,
                                shmemx_req_t *req);
int SHMEMI_P(shmemx_recv_init)(void *buf, size_t bytes, int pe, int tag,
                               shmemx_req_t *req);

/* Returns when the partners of all requests have been found; while it waits,
 * the PE answers the match requests of other PEs.  Requests that are already
 * matched are unchanged.  -EMSGSIZE: a send is longer than its receive,
 * -ECANCELED: the partner was freed before it was matched, both at both ends;
 * the other requests are matched nevertheless.  -EINVAL: a request is not of
 * the three kinds above, and nothing is done. */
int SHMEMI_P(shmemx_match)(shmemx_req_t req);
int SHMEMI_P(shmemx_matchall)(int n, shmemx_req_t reqs[]);
/* The same without waiting: *match becomes a request for the result; req_test
 * and req_wait complete it and return its error, req_free frees it. */
int SHMEMI_P(shmemx_imatch)(shmemx_req_t req, shmemx_req_t *match);
int SHMEMI_P(shmemx_imatchall)(int n, shmemx_req_t reqs[],
                               shmemx_req_t *match);
/* Completes nothing: *flag is 1 if the request is matched, else 0. */
int SHMEMI_P(shmemx_is_matched)(shmemx_req_t req, int *flag);

/* ---- One-shot messages, started by the queue's next start ----
 * The n-th send of this PE to a PE with a tag matches the n-th receive that is
 * enqueued there for this PE and tag, in any queues.  Neither call nor start
 * waits for the partner.  A message that is too long fails at both ends
 * (-EMSGSIZE if the host waits for its request, -EIO once if it waits for all,
 * with a line), and counts as ended. */
int SHMEMI_P(shmemx_enqueue_send)(shmemx_queue_t queue, const void *buf,
                                  size_t bytes, int pe, int tag,
                                  shmemx_req_t *req);
int SHMEMI_P(shmemx_enqueue_recv)(shmemx_queue_t queue, void *buf,
                                  size_t bytes, int pe, int tag,
                                  shmemx_req_t *req);

/* ---- Persistent collectives: started and waited for like a message ----
 * All members of the team call in the same order, and the call returns when all
 * have called: all members have a request, or none.  All members free their
 * requests.  Each starts its own, on any queue, in any order with its other
 * requests. */
int SHMEMI_P(shmemx_barrier_init)(shmem_team_t team, shmemx_req_t *req);
/* dest = all sources combined, element by element, by the device; the same on
 * all members.  dest and source are memory that the device reaches, and may be
 * the same. */
int SHMEMI_P(shmemx_allreduce_init)(shmem_team_t team, void *dest,
                                    const void *source, size_t nelems,
                                    shmemx_type_t type, shmemx_op_t op,
                                    shmemx_req_t *req);
