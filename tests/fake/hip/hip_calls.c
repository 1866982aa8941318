/* SPDX-License-Identifier: BSD-3-Clause */
/* HIP's names for the calls that both vendors have: gpu_calls.inc. */
#include "hip.h"
#include "gpu_calls.h"

#include <errno.h>
#include <stdio.h>

typedef struct hip_stream *STREAM_T;
typedef struct hip_graph *GRAPH_T;
typedef struct hip_graph_exec *EXEC_T;
typedef struct hip_event *EVENT_T;
typedef struct hip_user_object *OBJECT_T;
typedef struct hip_graph_node *const **NODES_T;
typedef unsigned ENUM_T;

enum { WORKS = true, ASKS = false };
enum {
    EVENT_FLAGS = HIP_EVENT_RELEASE_TO_SYSTEM | HIP_EVENT_DISABLE_TIMING,
    EVENT_RELEASES = HIP_EVENT_RELEASE_TO_SYSTEM,
    EVENT_UNTIMED = HIP_EVENT_DISABLE_TIMING,
    OBJECT_NO_SYNC = HIP_OBJECT_NO_SYNC, OBJECT_MOVE = HIP_OBJECT_MOVE,
    NATIVE_ATOMICS = HIP_P2P_ATOMICS
};
#define CODE(x) hip_result(HIP_##x)
#define RC(rc) hip_result(hip_error(rc))
#define OWNER() NULL            /* there are no contexts */
#define HERE() ((void)0)
#define IS_OTHER_CONTEXT(owner) false
#define DEFAULT_STREAM(handle) ((uintptr_t)(handle) <= 2)
/* Launches on several streams are in no order. */
#define LAUNCH(graph, s) dev_graph_launch(graph, s)
#define EXEC_MAY_RUN(graph) check_not_running(graph)
#define FAULT()                                                         \
    do {                                                                \
        if (dev_fault())                                                \
            return hip_result(HIP_ILLEGAL_ADDRESS);                     \
    } while (0)

/* Those of 5 free it at once. */
static void check_not_running(struct dev_graph *g)
{
    if (hip_major() >= 6 || !dev_graph_runs(g))
        return;
    fprintf(stderr, "fake HIP %d: a graph is destroyed while it runs\n",
            hip_major());
    abort();
}

/* The names of the table are whole, those of CALL() without hip. */
#define BEGIN(name)                                                     \
    do {                                                                \
        int code_ = dev_call(#name);                                    \
                                                                        \
        if (code_)                                                      \
            return hip_result((unsigned)code_);                         \
    } while (0)
#define CALL_ROW(cuda, hip, parameters, ...)                            \
    unsigned hip parameters                                             \
    {                                                                   \
        BEGIN(hip);                                                     \
        __VA_ARGS__                                                     \
    }
#define STREAM_ROW(cuda, hip, work, parameters, ...)                    \
    unsigned hip parameters                                             \
    {                                                                   \
        struct dev_stream *s;                                           \
                                                                        \
        BEGIN(hip);                                                     \
        if (work)                                                       \
            FAULT();                                                    \
        s = hip_stream_of(handle);                                      \
        if (!s)                                                         \
            return hip_result(HIP_CONTEXT_IS_DESTROYED);                \
        __VA_ARGS__                                                     \
    }
#include "gpu_calls.inc"
