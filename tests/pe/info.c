/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: version and name are those of the headers, PEs are numbered,
 * old and profiling names agree, and the constants are distinct.
 * PEs: 1 3
 * Env: SMA_VERSION=yes
 * Expect: ^Sluice [0-9.]+, OpenSHMEM 1\.6$
 * Reject: \[S- */
#include "../t.h"

#include <assert.h>
#include <mpp/shmem.h>
#include <mpp/shmemx.h>
#include <pshmem.h>
#include <shmem.h>
#include <shmemx.h>

static_assert(SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION == 6, "1.6");
static_assert(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED &&
              SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&
              SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE, "levels");
static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "room");
static_assert((SHMEM_CTX_PRIVATE & SHMEM_CTX_SERIALIZED) == 0 &&
              ((SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED) &
               SHMEM_CTX_NOSTORE) == 0, "options");
static_assert((SHMEM_MALLOC_ATOMICS_REMOTE & SHMEM_MALLOC_SIGNAL_REMOTE) == 0,
              "hints");
static_assert(SHMEM_SIGNAL_SET != SHMEM_SIGNAL_ADD, "signals");
static_assert(SHMEM_REDUCE_MIN_WRKDATA_SIZE >= 1, "pWrk");

/* The handles may initialise static data. */
static const shmem_ctx_t contexts[] = { SHMEM_CTX_DEFAULT, SHMEM_CTX_INVALID };
static const shmem_team_t teams[] = {
    SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, SHMEM_TEAM_INVALID
};
static long p_sync[SHMEM_SYNC_SIZE] = { SHMEM_SYNC_VALUE };
static int seen[3];

T(version_is_that_of_the_header)
{
    int major = -1, minor = -1;

    shmem_info_get_version(&major, &minor);
    T_EQ(major, SHMEM_MAJOR_VERSION);
    T_EQ(minor, SHMEM_MINOR_VERSION);
    pshmem_info_get_version(&minor, &major);
    T_EQ(minor, SHMEM_MAJOR_VERSION);
    T_EQ(major, SHMEM_MINOR_VERSION);
    T_LE(0, SLUICE_VERSION_MAJOR * 10000 + SLUICE_VERSION_MINOR * 100 +
         SLUICE_VERSION_PATCH);
}

T(name_is_the_vendor_string)
{
    char name[SHMEM_MAX_NAME_LEN + 8], copy[SHMEM_MAX_NAME_LEN];

    memset(name, '#', sizeof name);
    shmem_info_get_name(name);
    T_STR(name, SHMEM_VENDOR_STRING);
    T_MEM(name + SHMEM_MAX_NAME_LEN, "########", 8);
    pshmem_info_get_name(copy);
    T_STR(copy, SHMEM_VENDOR_STRING);
}

T(pes_are_numbered_once)
{
    int me = shmem_my_pe(), n_pes = shmem_n_pes();

    T_TRUE(me >= 0 && me < n_pes);
    T_TRUE(n_pes == 1 || n_pes == 3);
    T_EQ(_my_pe(), me);
    T_EQ(_num_pes(), n_pes);
    T_EQ(p_my_pe(), me);
    T_EQ(p_num_pes(), n_pes);
    T_EQ(pshmem_my_pe(), me);
    T_EQ(pshmem_n_pes(), n_pes);
    shmem_int_atomic_inc(&seen[me], 0);
    shmem_barrier_all();
    for (int i = 0; i < n_pes; i++)
        T_EQ(shmem_int_g(&seen[i], 0), 1);
}

T(reachable)
{
    int n_pes = shmem_n_pes();
    int *heap = shmem_malloc(sizeof *heap), local = 0;
    static const int constant = 1;

    for (int pe = 0; pe < n_pes; pe++) {
        T_EQ(shmem_pe_accessible(pe), 1);
        T_EQ(shmem_addr_accessible(heap, pe), 1);
        T_EQ(shmem_addr_accessible(seen, pe), 1);
        T_EQ(shmem_addr_accessible(&local, pe), 0);
        T_EQ(shmem_addr_accessible(&constant, pe), 0);
    }
    T_EQ(shmem_pe_accessible(-1), 0);
    T_EQ(shmem_pe_accessible(n_pes), 0);
    T_EQ(shmem_addr_accessible(heap, -1), 0);
    T_EQ(shmem_addr_accessible(heap, n_pes), 0);
    shmem_free(heap);
}

T(constants_are_distinct)
{
    static const int compare[] = {
        SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT,
        SHMEM_CMP_LE
    };
    static const int sizes[] = {
        SHMEM_SYNC_SIZE, SHMEM_BARRIER_SYNC_SIZE, SHMEM_BCAST_SYNC_SIZE,
        SHMEM_REDUCE_SYNC_SIZE, SHMEM_COLLECT_SYNC_SIZE,
        SHMEM_ALLTOALL_SYNC_SIZE, SHMEM_ALLTOALLS_SYNC_SIZE
    };

    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            T_NE(compare[i], compare[j]);
    /* One array of SHMEM_SYNC_SIZE must do for every call. */
    for (int i = 0; i < 7; i++)
        T_TRUE(sizes[i] > 0 && sizes[i] <= SHMEM_SYNC_SIZE);
    T_TRUE(teams[0] != teams[1] && teams[1] != teams[2] &&
           teams[0] != teams[2]);
    T_NE(contexts[0], contexts[1]);
    T_NE(SHMEM_TEAM_NUM_CONTEXTS, 0);
    T_NE(SHMEM_CTX_SESSION_BATCH, 0);
    T_NE(SHMEM_CTX_SESSION_TOTAL_OPS, 0);
    T_EQ(p_sync[0], SHMEM_SYNC_VALUE);
}

T(old_spellings)
{
    T_EQ(_SHMEM_SYNC_VALUE, SHMEM_SYNC_VALUE);
    T_EQ(_SHMEM_BARRIER_SYNC_SIZE, SHMEM_BARRIER_SYNC_SIZE);
    T_EQ(_SHMEM_BCAST_SYNC_SIZE, SHMEM_BCAST_SYNC_SIZE);
    T_EQ(_SHMEM_REDUCE_SYNC_SIZE, SHMEM_REDUCE_SYNC_SIZE);
    T_EQ(_SHMEM_REDUCE_MIN_WRKDATA_SIZE, SHMEM_REDUCE_MIN_WRKDATA_SIZE);
    T_EQ(_SHMEM_COLLECT_SYNC_SIZE, SHMEM_COLLECT_SYNC_SIZE);
    T_EQ(_SHMEM_MAJOR_VERSION, SHMEM_MAJOR_VERSION);
    T_EQ(_SHMEM_MINOR_VERSION, SHMEM_MINOR_VERSION);
    T_EQ(_SHMEM_MAX_NAME_LEN, SHMEM_MAX_NAME_LEN);
    T_STR(_SHMEM_VENDOR_STRING, SHMEM_VENDOR_STRING);
    T_EQ(_SHMEM_CMP_EQ, SHMEM_CMP_EQ);
    T_EQ(_SHMEM_CMP_NE, SHMEM_CMP_NE);
    T_EQ(_SHMEM_CMP_GT, SHMEM_CMP_GT);
    T_EQ(_SHMEM_CMP_GE, SHMEM_CMP_GE);
    T_EQ(_SHMEM_CMP_LT, SHMEM_CMP_LT);
    T_EQ(_SHMEM_CMP_LE, SHMEM_CMP_LE);
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    T_RUN(version_is_that_of_the_header);
    T_RUN(name_is_the_vendor_string);
    T_RUN(pes_are_numbered_once);
    T_RUN(reachable);
    T_RUN(constants_are_distinct);
    T_RUN(old_spellings);
    shmem_finalize();
    return T_DONE();
}
