/* SPDX-License-Identifier: BSD-3-Clause */
/* Of finalize_graph_launches.sh: launches a graph and ends the library before
 * its stream has come to what the graph has recorded. */
#include "st.h"

static void hold_up(void *arg)
{
    (void)arg;
    usleep(2000000);            /* longer than a slow finalize needs to begin */
}

int main(void)
{
    shmemx_graph_t graph;
    shmemx_stream_t s;

    st_begin();
    s = st_make();
    T_EQ(shmemx_stream_capture_begin(s), 0);
    T_EQ(shmemx_stream_call(s, hold_up, NULL), 0);
    T_EQ(shmemx_barrier_all_on_stream(s), 0);
    T_EQ(shmemx_stream_capture_end(s, &graph), 0);
    for (int i = 0; i < 3; i++)
        T_EQ(shmemx_graph_launch(graph, s), 0);
    shmem_finalize();
    /* What that graph had is gone in the next session. */
    shmem_init();
    s = st_make();
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_barrier_all_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_finalize();
    return T_DONE();
}
