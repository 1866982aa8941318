/* SPDX-License-Identifier: BSD-3-Clause */
/* api_stream.h - what the calls on streams begin with. */
#ifndef API_API_STREAM_H
#define API_API_STREAM_H

#include "api/api.h"
#include "gtl/gtl_default_stream.h"
#include "shmemx_st.h"
#include "stream/stream.h"

/* Is there a device?  The first that asks opens it.  0 or -errno. */
int api_stream_open(void) __attribute__((cold));
static inline int api_stream_ready(const char *call)
{
    core_need_up(call);
    /* acquire: another thread may have opened it. */
    return likely(__atomic_load_n(&stream_is_open, __ATOMIC_ACQUIRE))
           ? 0 : api_stream_open();
}

/* The same for calls that say why they refuse: once in a process, here. */
void api_stream_report_missing(const char *call) __attribute__((cold));
static inline int api_stream_need(const char *call)
{
    int rc = api_stream_ready(call);

    if (unlikely(rc))
        api_stream_report_missing(call);
    return rc;
}

/* ---- api_stream_message.c: the types of shmemx_st.h ---- */
extern hidden const size_t api_type_sizes[GTL_TYPES];
/* 0, or -EINVAL and a line. */
int api_need_team(const char *call, shmem_team_t team, struct core_team **out);
int api_check_type(const char *call, int type);
int api_check_reduction(const char *call, int type, int op);

/* ---- api_stream_graph.c ---- */
/* The stream records no more: 0, or what the driver said. */
int api_graph_lose(void *stream);
/* Destroys the graphs that the program has left. */
void api_graphs_close(void);

/* Prints on standard output which executor does a stream's operations, and why;
 * describe_off_node() is called when the network's hardware has been tried. */
void api_stream_print(const char *(*describe_off_node)(char *out, size_t size));

/* The default stream has one name here. */
static inline void *api_stream_of(void *stream)
{
    return (uintptr_t)stream == GTL_LEGACY ? NULL : stream;
}
/* A struct stream_where. */
#define API_ON(ctx_, stream_)                                               \
    { .call = __func__, .ctx = ctx_, .stream = api_stream_of(stream_) }

/* NULL: an invalid one, or a device's. */
const struct core_ctx *api_stream_ctx(shmem_ctx_t ctx, const char *call);

#endif
