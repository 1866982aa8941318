/* SPDX-License-Identifier: BSD-3-Clause */
/* Warns where the program also uses MPI and the two libraries disagree on the
 * job: under oshrun each process is an MPI job of its own, and a program that
 * computes with the MPI rank goes on with wrong results.  Called at the first
 * init, at allocations and at the last finalize.  MPI is found by its symbols,
 * since this library is compiled without it; one that is linked statically, or
 * loaded for a plug-in alone, is not seen. */
#include "api/api.h"
#include "rt/rt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* PMPI_X: tools that count the program's calls see none of these. */
typedef int flag_fn(int *flag);
typedef int abi_fn(int *major, int *minor);
typedef int version_fn(char *text, int *len);
typedef int size_fn(void *comm, int *size);
typedef int size_of_int_fn(int comm, int *size);

enum { CALLS = 1000,            /* MPI is linked, but it is not used, then */
       VERSION_TEXT = 16384,    /* no MPI has a longer one */
       MPICH_WORLD = 0x44000000, STANDARD_WORLD = 0x101 };

static bool says(const char *name, bool unknown)
{
    flag_fn *fn = (flag_fn *)dlsym(RTLD_DEFAULT, name);
    int flag = 0;

    return fn && !fn(&flag) ? flag : unknown;
}

/* Does this thread call it legally? */
static bool may_call(void)
{
    return says("PMPI_Initialized", false) && !says("PMPI_Finalized", true) &&
           says("PMPI_Is_thread_main", false);
}

static bool is_of_mpich(void)
{
    version_fn *version = (version_fn *)dlsym(RTLD_DEFAULT,
                                              "PMPI_Get_library_version");
    static char text[VERSION_TEXT];
    int len = 0;

    return version && !version(text, &len) &&
           (strstr(text, "MPICH") || strstr(text, "Intel(R) MPI") ||
            strstr(text, "MVAPICH"));
}

/* The size of MPI_COMM_WORLD, whose value is in no symbol that all have; 0 of
 * an MPI that is not known here. */
static int world_size(void)
{
    void *fn = dlsym(RTLD_DEFAULT, "PMPI_Comm_size");
    void *open_mpi = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    abi_fn *abi = (abi_fn *)dlsym(RTLD_DEFAULT, "PMPI_Abi_get_version");
    int major = -1, minor = -1, n = 0, rc = -1;

    if (fn && abi && !abi(&major, &minor) && major > 0)
        rc = ((size_fn *)fn)((void *)(uintptr_t)STANDARD_WORLD, &n);
    else if (fn && open_mpi)
        rc = ((size_fn *)fn)(open_mpi, &n);
    else if (fn && is_of_mpich())
        rc = ((size_of_int_fn *)fn)(MPICH_WORLD, &n);
    return rc ? 0 : n;
}

void api_mpi_check(void)
{
    static bool done;           /* relaxed: threads that allocate */
    static int calls;
    int n;

    if (__atomic_load_n(&done, __ATOMIC_RELAXED) || rt_job.pe ||
        rt_job.n_pes < 2)
        return;
    if (dlsym(RTLD_DEFAULT, "PMPI_Initialized") && !may_call()) {
        if (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) > CALLS)
            __atomic_store_n(&done, true, __ATOMIC_RELAXED);
        return;                 /* perhaps later */
    }
    if (__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
        return;
    n = world_size();
    if (n > 0 && n < rt_job.n_pes)
        log_warn(ERR_PMI, "MPI_COMM_WORLD has %d rank%s, but the job has %d "
                 "PEs: MPI did not join this job; start the program with a "
                 "launcher that serves both: mpirun of Open MPI and a program "
                 "compiled with Open MPI, or srun --mpi=pmix and an MPI that "
                 "uses PMIx", n, n == 1 ? "" : "s", rt_job.n_pes);
}
