/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of shmemg.h in code of a GPU, for tests/kernel/shmemg_modules.sh, in all
 * the ways in which code finds its state.  What the first argument says:
 *   plugin PTX PLUGIN   code of this program, of a plug-in that is loaded when
 *                       kernels may communicate, and of a module
 *   empty               a kernel without the library
 *   left                a kernel after shmem_finalize
 * With -DPLUGIN: the plug-in. */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <shmemg.h>
#include <shmemx_st.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Puts to the PE on the right. */
extern "C" __global__ void shift(long *dest, long value)
{
    shmemg_long_p(dest, value, (shmemg_my_pe() + 1) % shmemg_n_pes());
    shmemg_quiet();
}

#ifdef PLUGIN

extern "C" int plugin_shift(long *dest, long value)
{
    shift<<<1, 1>>>(dest, value);
    return (int)cudaDeviceSynchronize();
}

#else

static int me, n_pes;
static long *dest;

static int need(int rc, const char *what)
{
    if (rc) {
        printf("PE %d: %d from %s\n", me, rc, what);
        fflush(stdout);
        shmem_global_exit(2);
    }
    return rc;
}
#define NEED(call) need((int)(call), #call)

static int run_own(long value)
{
    shift<<<1, 1>>>(dest, value + me);
    return (int)cudaDeviceSynchronize();
}

/* The PE on the left has put value and its number. */
static int expect(const char *what, long value)
{
    int left = (me + n_pes - 1) % n_pes;
    long got = -1;

    shmem_barrier_all();
    NEED(cudaMemcpy(&got, dest, sizeof got, cudaMemcpyDeviceToHost));
    shmem_barrier_all();
    if (got == value + left)
        return 0;
    printf("PE %d: wrong: %s: %ld, not %ld\n", me, what, got, value + left);
    return 1;
}

/* ---- a module, by the driver's calls ---- */

static void *driver_call(const char *name)
{
    void *call = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);

    NEED(call == NULL);
    return call;
}

static char *text_of(const char *file)
{
    FILE *f = fopen(file, "r");
    char *text = (char *)calloc(1, 1 << 22);

    NEED(!f || !text || !fread(text, 1, (1 << 22) - 1, f));
    fclose(f);
    return text;
}

static void run_module(const char *ptx, long value)
{
    int (*load)(void **, const void *);
    int (*unload)(void *);
    int (*find)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                  unsigned, unsigned, void *, void **, void **);
    long mine = value + me;
    void *module, *function, *args[] = { &dest, &mine };

    *(void **)&load = driver_call("cuModuleLoadData");
    *(void **)&unload = driver_call("cuModuleUnload");
    *(void **)&find = driver_call("cuModuleGetFunction");
    *(void **)&launch = driver_call("cuLaunchKernel");
    NEED(load(&module, text_of(ptx)));
    NEED(shmemx_module_init(module));
    NEED(find(&function, module, "shift"));
    NEED(launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    NEED(cudaDeviceSynchronize());
    NEED(shmemx_module_finalize(module));
    NEED(unload(module));
}

static int run_plugin(const char *file, long value)
{
    void *plugin = dlopen(file, RTLD_NOW);
    int (*call)(long *, long);
    int rc;

    if (!plugin)
        printf("%s\n", dlerror());
    NEED(plugin == NULL);
    *(void **)&call = dlsym(plugin, "plugin_shift");
    rc = call(dest, value + me);
    dlclose(plugin);
    return rc;
}

static void begin(void)
{
    shmemx_device_info_t device;
    int provided = 0;

    NEED(shmem_init_thread(SHMEM_THREAD_SINGLE | SHMEM_DEVICE_KERNEL_INIT,
                           &provided));
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    NEED(!(provided & SHMEM_DEVICE_KERNEL_INIT));
    NEED(shmemx_device_info(&device));
    NEED(cudaSetDevice(device.ordinal));
    dest = (long *)shmemg_calloc(1, sizeof *dest);
    NEED(dest == NULL);
}

/* A trap, and no illegal address: the call has looked at its state. */
static int expect_trap(const char *what)
{
    int rc = run_own(1);

    if (rc && rc != cudaErrorIllegalAddress)
        return 0;
    printf("PE %d: wrong: %s: %d\n", me, what, rc);
    return 1;
}

int main(int argc, char **argv)
{
    int wrong = 0;

    if (argc > 1 && !strcmp(argv[1], "empty"))
        return expect_trap("without the library");
    begin();
    NEED(run_own(100));
    wrong += expect("code of the program", 100);
    if (argc > 3) {
        NEED(run_plugin(argv[3], 200));
        wrong += expect("code of a plug-in", 200);
        run_module(argv[2], 300);
        wrong += expect("a module", 300);
        NEED(run_own(400));
        wrong += expect("code of the program, after these", 400);
    }
    shmemg_free(dest);
    shmem_finalize();
    if (argc > 1 && !strcmp(argv[1], "left"))
        wrong += expect_trap("after shmem_finalize");
    printf("PE %d: %d wrong\n", me, wrong);
    return wrong != 0;
}

#endif
