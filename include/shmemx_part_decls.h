/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_part_decls.h - the prototypes of partitioned messages, included by
 * shmemx_part.h with SHMEMI_P(f) as f and as pf.  No include guard.
 *
 * All calls are local and return 0 or a negative errno: -EINVAL, an invalid
 * argument, with a line; -EBUSY, not now, with a line; -ENODEV, no device;
 * -ENOMEM.  Any thread may call; calls on one request are ordered by the
 * program, but for shmemx_pready and its kin, and shmemx_parrived. */

/* partitions, 1 to 65536, of bytes_each bytes, one behind the other in buf: any
 * memory of this PE for a send; symmetric memory, of host or device, for a
 * receive.  pe: of the job; tag: as for shmemx_send_init, and counted apart
 * from the messages of others only by the order in which requests are made.
 * The matching calls fail at both ends with -EMSGSIZE if the totals differ, and
 * with -EINVAL if neither number of partitions divides the other or the partner
 * is not partitioned. */
int SHMEMI_P(shmemx_psend_init)(const void *buf, int partitions,
                                size_t bytes_each, int pe, int tag,
                                shmemx_req_t *req);
int SHMEMI_P(shmemx_precv_init)(void *buf, int partitions, size_t bytes_each,
                                int pe, int tag, shmemx_req_t *req);
/* Before a send is matched, or a receive is made known to its sender by any
 * matching: at most so many partitions travel.  The smaller number of both ends
 * holds, and the next smaller one that divides. */
int SHMEMI_P(shmemx_ptransport)(shmemx_req_t req, int partitions);

/* The host starts partitioned requests, all or none.  -EBUSY: one of them was
 * started, and has not ended or was not waited for.  -EPIPE: the partner has
 * freed its end. */
int SHMEMI_P(shmemx_req_start)(shmemx_req_t req);
int SHMEMI_P(shmemx_req_startall)(int n, shmemx_req_t reqs[]);

/* The partition may travel: what the thread has stored there does.  range: low
 * to high, both included.  -EINVAL: it is ready already, or the request is not
 * started, or kernels make its partitions ready, of which several travel
 * together or which they copy; -EBUSY: a stream has not come to the end of the
 * iteration before. */
int SHMEMI_P(shmemx_pready)(shmemx_req_t req, int partition);
int SHMEMI_P(shmemx_pready_range)(shmemx_req_t req, int low, int high);
int SHMEMI_P(shmemx_pready_list)(shmemx_req_t req, int n, const int parts[]);
/* *flag: 1 if that partition of a receive has arrived in the iteration that was
 * started last, else 0.  Before the first start: -EINVAL. */
int SHMEMI_P(shmemx_parrived)(shmemx_req_t req, int partition, int *flag);

/* What kernels of this PE's device use in place of the request, which is
 * matched; the calls of kernels are in shmemx_dev_part.h.  One for each request
 * at a time, made and freed between iterations.  mask: which members of config
 * count.  -ENOTSUP: that mode is not for this request. */
int SHMEMI_P(shmemx_prequest_create)(shmemx_req_t req,
                                     const shmemx_prequest_config_t *config,
                                     long mask, shmemx_prequest_t *prequest);
/* No kernel uses it any more. */
int SHMEMI_P(shmemx_prequest_free)(shmemx_prequest_t *prequest);
