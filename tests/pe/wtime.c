/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: shmemx_wtime counts seconds at any time, also before the first
 * init and after the last finalize, and never goes back.
 * PEs: 1 */
#include "../t.h"

#include <shmem.h>
#include <shmemx.h>

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* As long as the system's clock says. */
static void sample(void)
{
    const struct timespec pause_ms = { 0, 20000000 };
    double outer = seconds(), begin = shmemx_wtime(), inner = seconds(), took;

    nanosleep(&pause_ms, NULL);
    inner = seconds() - inner;
    took = shmemx_wtime() - begin;
    outer = seconds() - outer;
    T_LE(inner, took + 1e-6);
    T_LE(took, outer + 1e-6);
}

T(seconds_pass_at_any_time)
{
    sample();
    shmem_init();
    sample();
    shmem_finalize();
    sample();
}

T(it_never_goes_back)
{
    double last = shmemx_wtime(), now;
    int back = 0;

    for (int i = 0; i < 100000; i++, last = now) {
        now = shmemx_wtime();
        back += now < last;
    }
    T_EQ(back, 0);
}

int main(void)
{
    T_RUN(seconds_pass_at_any_time);
    T_RUN(it_never_goes_back);
    return T_DONE();
}
