/* SPDX-License-Identifier: BSD-3-Clause */

/* shmemg_state.h - where the calls of shmemg.h, which take no state, have it
 * from.  A part of shmemg_dev.h.
 *
 * Kernels of the software device have that of shmemx_dev_default().  Code of a
 * GPU has a copy in each module, shmemi_dev_state, in constant memory.  The
 * library fills the copies: of code compiled for the runtime API of CUDA or HIP,
 * which is registered as it is loaded, on its own; of a module that the program
 * loads, by shmemx_module_init().  A call that finds the copy empty ends the
 * kernel by a trap. */

#ifdef SHMEMI_DEV_C

SHMEMI_DEV const shmemx_dev_t *shmemi_g_state(void)
{
    return shmemx_dev_default();
}

SHMEMI_DEV_SLOW void shmemi_g_refuse(const shmemx_dev_t *d, const char *call,
                                     const char *why)
{
    if (d->host)
        d->host->refuse(call, why);
    __builtin_trap();
}

#else

/* One in a module, which the host finds by this name.  Sources that are linked
 * on the device are one module: they share it; nvcc makes that of C++17 alone,
 * and before that each has its own. */
#if defined(SHMEMI_DEV_HIP) && defined(__CLANG_RDC__)
#define SHMEMI_G_CONSTANT                                                   \
    __attribute__((constant, weak, visibility("default")))
#elif defined(SHMEMI_DEV_HIP)
#define SHMEMI_G_CONSTANT __attribute__((constant, visibility("default")))
#elif !defined(__CUDACC_RDC__) || defined(__CUDACC_RTC__)
#define SHMEMI_G_CONSTANT __constant__
#elif __cplusplus >= 201703L
#define SHMEMI_G_CONSTANT inline __constant__
#else
#define SHMEMI_G_CONSTANT static __constant__
#endif
extern "C" {
SHMEMI_G_CONSTANT shmemx_dev_t shmemi_dev_state;
}
#undef SHMEMI_G_CONSTANT

SHMEMI_DEV const shmemx_dev_t *shmemi_g_state(void)
{
    return &shmemi_dev_state;
}

#define shmemi_g_refuse(d, call, why) shmemi_dev_trap()

#endif

/* Of a call that does not look at the state, but for what it returns. */
#define SHMEMI_G_NEEDS(d, call)                                             \
    do {                                                                    \
        if (!SHMEMI_DEV_LIKELY((d)->magic == SHMEMI_DEV_MAGIC))             \
            shmemi_g_refuse(d, call, "kernels have no state: it takes a "   \
                            "device and SHMEM_DEVICE_KERNEL_INIT");         \
    } while (0)

/* d: the default state.  It is an argument, so that a program of the host that
 * only includes this needs nothing of the library. */
SHMEMI_DEV_SLOW const shmemx_dev_t *shmemi_g_find(const shmemx_dev_t *d,
                                                  shmem_ctx_t ctx,
                                                  const char *call)
{
    int i;

    (void)call;
    SHMEMI_G_NEEDS(d, call);
    for (i = 0; i < SHMEMI_DEV_OBJECTS && d->table && ctx; i++)
        if (d->table->ctx[i] == (shmemi_u64)ctx && d->table->state[i])
            return d->table->state[i];
    shmemi_g_refuse(d, call, "no context of kernels has this handle: it takes "
                    "one made with SHMEM_DEVICE_CTX");
    return d;
}

SHMEMI_DEV const shmemx_dev_t *shmemi_g_ctx(shmem_ctx_t ctx, const char *call)
{
    const shmemx_dev_t *d = shmemi_g_state();

    return SHMEMI_DEV_LIKELY(ctx == SHMEM_DEVICE_CTX_DEFAULT)
               ? d : shmemi_g_find(d, ctx, call);
}

/* ---- code of the runtime API is registered as it is loaded ---- */

#if !defined(SHMEMI_DEV_C) && !defined(__CUDACC_RTC__) && \
    !defined(__HIPCC_RTC__)
/* Each source has its own. */
namespace {
#ifdef SHMEMI_DEV_CUDA
struct shmemi_g_code {
    static int symbol(void **address)
    {
        int error = (int)cudaGetSymbolAddress(address, shmemi_dev_state);

        if (error)              /* the program does not find it there */
            (void)cudaGetLastError();
        return error;
    }
};
#else
/* HIP's call is known where the source includes <hip/hip_runtime.h>, before
 * this header or behind it: so it is looked for at the end, by the arguments.  A
 * source without it has no kernels that the runtime starts. */
extern "C" int shmemi_g_last_error(void) __asm__("hipGetLastError");
template <class T>
auto shmemi_g_address(void **address, const T &state, int)
    -> decltype((int)hipGetSymbolAddress(address, state))
{
    int error = (int)hipGetSymbolAddress(address, state);

    if (error)                  /* the program does not find it there */
        shmemi_g_last_error();
    return error;
}
template <class T>
int shmemi_g_address(void **, const T &, long)
{
    return -1;
}
template <class T> struct shmemi_g_code_of {
    static int symbol(void **address)
    {
        return shmemi_g_address(address, *(const T *)&shmemi_dev_state, 0);
    }
};
typedef shmemi_g_code_of<shmemx_dev_t> shmemi_g_code;
#endif
/* An object, for its constructor runs behind the one by which the compiler
 * makes a source known to the runtime. */
struct shmemi_g_registration {
    shmemi_g_registration()
    {
        shmemx_dev_register(shmemi_g_code::symbol, sizeof(shmemx_dev_t));
    }
    ~shmemi_g_registration()
    {
        shmemx_dev_unregister(shmemi_g_code::symbol);
    }
} shmemi_g_registration;
}
#endif

/* ---- for the families ----
 * A family is written once, for CTX empty and ctx_. */
#define SHMEMI_G_ARG_
#define SHMEMI_G_ARG_ctx_ shmem_ctx_t ctx,
#define SHMEMI_G_DEV_(call) shmemi_g_state()
#ifdef SHMEMI_DEV_C
#define SHMEMI_G_NAME(call) call
#else
#define SHMEMI_G_NAME(call) 0   /* no texts in code of a GPU */
#endif
#define SHMEMI_G_DEV_ctx_(call)                                             \
    shmemi_g_ctx(ctx, SHMEMI_G_NAME("shmemg_ctx_" call))
/* X(suffix of the draft, suffix of shmemx_dev.h). */
#define SHMEMI_G_SCOPES(X) X(, ) X(_tg, _block) X(_htg, _warp)
