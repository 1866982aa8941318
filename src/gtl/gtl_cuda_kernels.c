/* SPDX-License-Identifier: BSD-3-Clause */
/* Small kernels for NVIDIA's devices, as text that the driver compiles for
 * whichever device there is: an atomic on a word, blocks that lie apart as no
 * copy engine has it, and word writes and waits for drivers without these.
 *
 * Addresses are generic, since one kernel meets device and pinned memory, and
 * accesses to words are of system scope: others use the word meanwhile. */
#include "gtl/gtl_cuda_int.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* An operation on the word, branched to by its number. */
#define OP(bits, name, text)                                                \
    #name #bits ":\n"                                                       \
    "    " text "\n"                                                        \
    "    bra.uni DONE" #bits ";\n"
#define CASE(bits, name, number)                                            \
    "    setp.eq.u32 %p, %op, " #number ";\n"                               \
    "    @%p bra " #name #bits ";\n"

/* b: 32 or 64. */
#define WORD(b)                                                             \
    CASE(b, FETCH, 0) CASE(b, SWAP, 1) CASE(b, SWAP, 2) CASE(b, CSWAP, 3)   \
    CASE(b, ADD, 4) CASE(b, AND, 5) CASE(b, OR, 6)                          \
    OP(b, XOR, "atom.sys.xor.b" #b " %o" #b ", [%w], %v" #b ";")            \
    OP(b, FETCH, "atom.sys.or.b" #b " %o" #b ", [%w], 0;")                  \
    OP(b, SWAP, "atom.sys.exch.b" #b " %o" #b ", [%w], %v" #b ";")          \
    OP(b, CSWAP, "atom.sys.cas.b" #b " %o" #b ", [%w], %c" #b ", %v" #b     \
       ";")                                                                 \
    OP(b, ADD, "atom.sys.add.u" #b " %o" #b ", [%w], %v" #b ";")            \
    OP(b, AND, "atom.sys.and.b" #b " %o" #b ", [%w], %v" #b ";")            \
    OP(b, OR, "atom.sys.or.b" #b " %o" #b ", [%w], %v" #b ";")              \
    "DONE" #b ":\n"                                                         \
    "    setp.eq.u64 %p, %r, 0;\n"                                          \
    "    @%p bra END;\n"                                                    \
    "    st.volatile.u" #b " [%r], %o" #b ";\n"                             \
    "    bra.uni END;\n"

static const char ptx[] =
    ".version 6.0\n"
    ".target sm_60\n"
    ".address_size 64\n"
    "\n"
    ".visible .entry gtl_amo(.param .u32 op, .param .u32 size,\n"
    "    .param .u64 word, .param .u64 value, .param .u64 cond,\n"
    "    .param .u64 result)\n"
    "{\n"
    "    .reg .pred %p;\n"
    "    .reg .u32 %op, %size, %v32, %c32, %o32;\n"
    "    .reg .u64 %w, %r, %v64, %c64, %o64;\n"
    "    ld.param.u32 %op, [op];\n"
    "    ld.param.u32 %size, [size];\n"
    "    ld.param.u64 %w, [word];\n"
    "    ld.param.u64 %v64, [value];\n"
    "    ld.param.u64 %c64, [cond];\n"
    "    ld.param.u64 %r, [result];\n"
    "    cvt.u32.u64 %v32, %v64;\n"
    "    cvt.u32.u64 %c32, %c64;\n"
    "    membar.sys;\n"
    "    setp.eq.u32 %p, %size, 8;\n"
    "    @%p bra EIGHT;\n"
    WORD(32)
    "EIGHT:\n"
    WORD(64)
    "END:\n"
    "    membar.sys;\n"
    "    ret;\n"
    "}\n"
    "\n"
    ".visible .entry gtl_write(.param .u64 word, .param .u64 value)\n"
    "{\n"
    "    .reg .u64 %w, %v;\n"
    "    ld.param.u64 %w, [word];\n"
    "    ld.param.u64 %v, [value];\n"
    "    membar.sys;\n"
    "    st.volatile.u64 [%w], %v;\n"
    "    ret;\n"
    "}\n"
    "\n"
    ".visible .entry gtl_wait(.param .u64 word, .param .u64 least)\n"
    "{\n"
    "    .reg .pred %p;\n"
    "    .reg .u64 %w, %v, %least;\n"
    "    ld.param.u64 %w, [word];\n"
    "    ld.param.u64 %least, [least];\n"
    "AGAIN:\n"
    "    ld.volatile.u64 %v, [%w];\n"
    "    setp.lt.u64 %p, %v, %least;\n"
    "    @%p bra AGAIN;\n"
    "    membar.sys;\n"
    "    ret;\n"
    "}\n"
    "\n"
    /* Thread i moves units i, i + threads, ...: unit i is number i % per of
     * block i / per. */
    ".visible .entry gtl_blocks(.param .u64 to, .param .u64 from,\n"
    "    .param .u64 per, .param .u64 units, .param .u64 to_stride,\n"
    "    .param .u64 from_stride, .param .u64 unit)\n"
    "{\n"
    "    .reg .pred %p;\n"
    "    .reg .b16 %v8;\n"
    "    .reg .b32 %t, %n, %c, %v32;\n"
    "    .reg .b64 %to, %from, %per, %units, %ts, %fs, %unit;\n"
    "    .reg .b64 %i, %step, %b, %e, %x, %y, %v64;\n"
    "    ld.param.u64 %to, [to];\n"
    "    ld.param.u64 %from, [from];\n"
    "    ld.param.u64 %per, [per];\n"
    "    ld.param.u64 %units, [units];\n"
    "    ld.param.u64 %ts, [to_stride];\n"
    "    ld.param.u64 %fs, [from_stride];\n"
    "    ld.param.u64 %unit, [unit];\n"
    "    mov.u32 %t, %tid.x;\n"
    "    mov.u32 %n, %ntid.x;\n"
    "    mov.u32 %c, %ctaid.x;\n"
    "    cvt.u64.u32 %i, %t;\n"
    "    mul.wide.u32 %x, %c, %n;\n"
    "    add.u64 %i, %i, %x;\n"
    "    mov.u32 %c, %nctaid.x;\n"
    "    mul.wide.u32 %step, %c, %n;\n"
    "NEXT:\n"
    "    setp.ge.u64 %p, %i, %units;\n"
    "    @%p bra END;\n"
    "    div.u64 %b, %i, %per;\n"
    "    mul.lo.u64 %e, %b, %per;\n"
    "    sub.u64 %e, %i, %e;\n"
    "    mul.lo.u64 %e, %e, %unit;\n"
    "    mad.lo.u64 %x, %b, %fs, %from;\n"
    "    add.u64 %x, %x, %e;\n"
    "    mad.lo.u64 %y, %b, %ts, %to;\n"
    "    add.u64 %y, %y, %e;\n"
    "    add.u64 %i, %i, %step;\n"
    "    setp.eq.u64 %p, %unit, 8;\n"
    "    @%p bra EIGHT;\n"
    "    setp.eq.u64 %p, %unit, 4;\n"
    "    @%p bra FOUR;\n"
    "    ld.u8 %v8, [%x];\n"
    "    st.u8 [%y], %v8;\n"
    "    bra.uni NEXT;\n"
    "FOUR:\n"
    "    ld.u32 %v32, [%x];\n"
    "    st.u32 [%y], %v32;\n"
    "    bra.uni NEXT;\n"
    "EIGHT:\n"
    "    ld.u64 %v64, [%x];\n"
    "    st.u64 [%y], %v64;\n"
    "    bra.uni NEXT;\n"
    "END:\n"
    "    ret;\n"
    "}\n";

static void *module, *amo, *write64, *wait64, *blocks;

static int launch(void *kernel, unsigned groups, unsigned threads, void *s,
                  void **args)
{
    if (!kernel)
        return gtl_fail(-ENOSYS, "cuLaunchKernel", "the driver has compiled "
                        "no kernels", 0);
    return CU(cuLaunchKernel, kernel, groups, 1, 1, threads, 1, 1, 0, s, args,
              NULL);
}

int gtl_cu_kernel_write64(uint64_t *word, uint64_t value, void *s)
{
    uint64_t w = gtl_cu_ptr(word);
    void *args[] = { &w, &value };

    return launch(write64, 1, 1, s, args);
}

/* One thread, which takes the device's time where processes share it. */
int gtl_cu_kernel_wait64(uint64_t *word, uint64_t least, void *s)
{
    uint64_t w = gtl_cu_ptr(word);
    void *args[] = { &w, &least };

    return launch(wait64, 1, 1, s, args);
}

int gtl_cu_kernel_amo(const struct gtl_amo *a, void *s)
{
    uint32_t op = a->op, size = (uint32_t)a->size;
    uint64_t word = gtl_cu_ptr(a->word), value = a->value, cond = a->cond;
    uint64_t result = gtl_cu_ptr(a->result);
    void *args[] = { &op, &size, &word, &value, &cond, &result };

    return launch(amo, 1, 1, s, args);
}

int gtl_cu_kernel_blocks(void *to, const void *from,
                         const struct gtl_blocks *b, void *s)
{
    uint64_t t = gtl_cu_ptr(to), f = gtl_cu_ptr(from);
    uint64_t ts = (uint64_t)b->to_stride, fs = (uint64_t)b->from_stride;
    uint64_t odd = t | f | ts | fs | b->len;
    uint64_t unit = odd & 3 ? 1 : odd & 4 ? 4 : 8;
    uint64_t per = b->len / unit, units = per * b->count;
    uint64_t groups = (units + 255) / 256;
    void *args[] = { &t, &f, &per, &units, &ts, &fs, &unit };

    return launch(blocks, groups < 1024 ? (unsigned)groups : 1024, 256, s,
                  args);
}

static int warm_kernels(uint64_t *word, void *s)
{
    struct gtl_amo a = { .op = GTL_FETCH, .size = 8, .word = word };
    struct gtl_blocks once = { 8, 1, 8, 8 };
    int rc = gtl_cu_kernel_write64(word, 1, s);

    if (!rc)
        rc = gtl_cu_kernel_wait64(word, 1, s);
    if (!rc)
        rc = gtl_cu_kernel_amo(&a, s);
    if (!rc)
        rc = gtl_cu_kernel_blocks(word + 1, word, &once, s);
    return rc;
}

static void nothing(void *arg)
{
    (void)arg;
}

/* Every kind of command, once, on words of the device: the driver's own
 * copies and fills may be kernels as well. */
static int warm_up(uint64_t *word, void *s)
{
    struct gtl_blocks rows = { 4, 2, 8, 8 };
    int rc = gtl_cu_fill(word, 0, 64, s);

    if (!rc && amo)
        rc = warm_kernels(word, s);
    if (!rc)
        rc = gtl_cu_copy(word + 2, word, 8, s);
    if (!rc)
        rc = gtl_cu_copy_blocks(word + 4, word + 2, &rows, s);
    if (!rc)
        rc = gtl_cu_call(nothing, NULL, s);
    if (!rc)
        rc = gtl_cu_write64(word, 2, s);
    if (!rc)
        rc = gtl_cu_wait64(word, 2, s);
    return rc ? rc : gtl_cu_stream_sync(s);
}

static int run_once(void)
{
    void *word = NULL, *s = NULL;
    int rc = gtl_cu_alloc(64, &word);

    if (rc)
        return rc;
    rc = gtl_cu_stream_create(false, &s);
    if (!rc) {
        rc = warm_up(word, s);
        gtl_cu_stream_destroy(s);
    }
    gtl_cu_free(word);
    return rc;
}

/* With what the driver's compiler says, where it is that which fails. */
static int load_module(void)
{
    static char told[1024];
    int options[] = { CU_JIT_ERROR_LOG_BUFFER,
                      CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { told, (void *)(uintptr_t)sizeof told };
    char said[112];
    int rc;

    told[0] = '\0';
    rc = CU(cuModuleLoadDataEx, &module, ptx, 2, options, values);
    if (!rc || !told[0])
        return rc;
    told[sizeof told - 1] = '\0';
    snprintf(said, sizeof said, "%.*s", (int)strcspn(told, "\n"), told);
    return gtl_fail(rc, "cuModuleLoadDataEx", said, rc);
}

static int load_kernels(void)
{
    static const struct { const char *name; void **kernel; } names[] = {
        { "gtl_amo", &amo }, { "gtl_write", &write64 },
        { "gtl_wait", &wait64 }, { "gtl_blocks", &blocks }
    };
    int rc = load_module();

    for (unsigned i = 0; i < sizeof names / sizeof *names && !rc; i++)
        rc = CU(cuModuleGetFunction, names[i].kernel, module, names[i].name);
    return rc;
}

int gtl_cu_kernels_load(bool *out)
{
    int rc = load_kernels();

    /* Copies and waits go without. */
    if (rc == -ENOSYS && gtl_cu_device.memops) {
        log_warn(ERR_DEVICE, "no kernels on the device: %s; atomics on its "
                 "memory fail, blocks are copied one by one", gtl_error());
        gtl_cu_kernels_unload();
        rc = 0;
    }
    if (!rc)
        rc = run_once();
    if (rc)
        gtl_cu_kernels_unload();
    else
        *out = amo;
    return rc;
}

void gtl_cu_kernels_unload(void)
{
    if (module)
        CU(cuModuleUnload, module);
    module = amo = write64 = wait64 = blocks = NULL;
}
