/* SPDX-License-Identifier: BSD-3-Clause */
/* Warns where the program also uses MPI and the two libraries disagree on the
 * job: under oshrun each process is an MPI job of its own, and a program that
 * computes with the MPI rank goes on with wrong results.  Called at the first
 * init and the last finalize.  The MPI library is found by its symbols, since
 * the library is not compiled against any. */
#include "api/api.h"
#include "rt/rt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { VERSION_TEXT = 16384 };  /* more than any MPI_MAX_LIBRARY_VERSION_STRING */
#define MPICH_COMM_WORLD ((void *)(uintptr_t)0x44000000)

typedef int flag_fn(int *flag);
typedef int version_fn(char *text, int *len);
typedef int size_fn(void *comm, int *size);

static bool says(const char *name)
{
    flag_fn *fn = (flag_fn *)dlsym(RTLD_DEFAULT, name);
    int flag = 0;

    return fn && !fn(&flag) && flag;
}

/* MPI_COMM_WORLD as that library has it; NULL: of a library not known here.
 * That of MPICH and its relatives is an int, which a register passes alike. */
static void *world(void)
{
    version_fn *version = (version_fn *)dlsym(RTLD_DEFAULT,
                                              "MPI_Get_library_version");
    static char text[VERSION_TEXT];
    int len = 0;

    if (!version || version(text, &len))
        return NULL;
    if (strstr(text, "Open MPI"))
        return dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    return strstr(text, "MPICH") || strstr(text, "Intel(R) MPI") ||
           strstr(text, "MVAPICH") ? MPICH_COMM_WORLD : NULL;
}

void api_mpi_check(void)
{
    size_fn *size = (size_fn *)dlsym(RTLD_DEFAULT, "MPI_Comm_size");
    static bool warned;
    int ranks = 0;
    void *comm;

    if (warned || !size || rt_job.pe || rt_job.n_pes < 2 ||
        !says("MPI_Initialized") || says("MPI_Finalized"))
        return;
    comm = world();
    if (!comm || size(comm, &ranks) || ranks < 1 || ranks >= rt_job.n_pes)
        return;
    warned = true;
    log_warn(ERR_PMI, "MPI_COMM_WORLD has %d rank%s, but the job has %d PEs: "
             "the launcher started a job of this library and not one of MPI; "
             "start the program with mpirun of Open MPI or with srun "
             "--mpi=pmix", ranks, ranks == 1 ? "" : "s", rt_job.n_pes);
}
