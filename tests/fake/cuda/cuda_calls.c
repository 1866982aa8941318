/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA's names for the calls that both vendors have: gpu_calls.inc. */
#include "fake.h"
#include "gpu_calls.h"

#include <errno.h>

typedef void *STREAM_T, *GRAPH_T, *EXEC_T, *EVENT_T, *OBJECT_T;
typedef const void **NODES_T;
typedef int ENUM_T;

enum { WORKS = true, ASKS = false };
enum { EVENT_FLAGS = 7, EVENT_RELEASES = 0, EVENT_UNTIMED = 2 };
enum {
    OBJECT_NO_SYNC = CU_USER_OBJECT_NO_DESTRUCTOR_SYNC,
    OBJECT_MOVE = CU_GRAPH_USER_OBJECT_MOVE,
    NATIVE_ATOMICS = CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED
};
#define CUDA_ERROR_OK CUDA_SUCCESS
#define CODE(x) CUDA_ERROR_##x
#define RC(rc) fake_code(rc)
#define OWNER() fake_current()
#define IS_OTHER_CONTEXT(owner) \
    (fake_whole(owner) != fake_whole(fake_current()))
#define DEFAULT_STREAM(handle) (!(handle) || (handle) == (void *)1)
#define LAUNCH(graph, s) dev_graph_in_turn(graph, s)
#define EXEC_MAY_RUN(graph) ((void)0)
#define FAULT() ((void)0)       /* every call asks */
#define HERE()                                                          \
    do {                                                                \
        if (!fake_current())                                            \
            return CUDA_ERROR_INVALID_CONTEXT;                          \
        if (!fake_current()->live)                                      \
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;                     \
    } while (0)

#define CALL_ROW(cuda, hip, parameters, ...)                            \
    int cuda parameters                                                 \
    {                                                                   \
        CALL(#cuda);                                                    \
        __VA_ARGS__                                                     \
    }
#define STREAM_ROW(cuda, hip, work, parameters, ...)                    \
    int cuda parameters                                                 \
    {                                                                   \
        struct dev_stream *s;                                           \
        int code_;                                                      \
                                                                        \
        CALL(#cuda);                                                    \
        HERE();                                                         \
        code_ = fake_stream(handle, fake_current(), work, &s);          \
        if (code_)                                                      \
            return code_;                                               \
        __VA_ARGS__                                                     \
    }
#include "gpu_calls.inc"
