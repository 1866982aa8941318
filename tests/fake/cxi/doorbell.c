/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doorbells (rule 15): the page at which a counter takes stores from a
 * processor or a GPU.  The hardware adds what is stored, so two stores count
 * twice however close they are; memory that is read now and then would
 * lose one.  Here nothing may be stored: each store is a fault, whose handler
 * takes the value out of the instruction, posts it to the NIC's thread through
 * a pipe, in order, and steps over it.  That costs some microseconds, needs no
 * help from the code that stores, and shows what a NIC would choke on: loads,
 * and everything but a plain store of 8 bytes.  A debugger wants
 * `handle SIGSEGV nostop noprint`; a thread that rings may not block SIGSEGV.
 */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGES = 8192 };
enum { DOORBELL_ADD = 0, DOORBELL_ADDERR = 64, DOORBELL_RESET = 128,
       DOORBELL_RESETERR = 192 };

struct ring {
    struct cxi_cntr *cntr;
    uint64_t at, value;
};

static char *base;              /* of PAGES pages; never unmapped */
static size_t page;             /* the system's: the driver maps one whole */
static _Atomic(struct cxi_cntr *) owner[PAGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;

#if defined(__x86_64__)
static uint64_t general(const ucontext_t *uc, unsigned n)
{
    static const uint8_t at[] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP,
        REG_RBP, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12,
        REG_R13, REG_R14, REG_R15 };

    return (uint64_t)uc->uc_mcontext.gregs[at[n]];
}

static uint64_t vector(const ucontext_t *uc, unsigned n)
{
    uint64_t low;

    memcpy(&low, &uc->uc_mcontext.fpregs->_xmm[n], sizeof low);
    return low;
}

/* Bytes of the address at ip, which begins with the byte ModRM. */
static unsigned address_bytes(const uint8_t *ip)
{
    unsigned mod = ip[0] >> 6, rm = ip[0] & 7, n = 1;
    bool sib = rm == 4, wide = mod == 2;

    n += sib;
    if (mod == 0)
        wide = rm == 5 || (sib && (ip[1] & 7) == 5);
    return n + (mod == 1 ? 1 : wide ? 4 : 0);
}

/* The value of a plain store of 8 bytes, and past it. */
static bool step(ucontext_t *uc, uint64_t *value)
{
    const uint8_t *start = (const uint8_t *)uc->uc_mcontext.gregs[REG_RIP];
    const uint8_t *ip = start;
    unsigned prefix = 0, rex = 0, op, reg, more = 0;
    int32_t imm;

    while (*ip == 0x66 || *ip == 0xf2 || *ip == 0xf3 || *ip == 0x3e ||
           *ip == 0x64 || *ip == 0x65) {
        if (*ip == 0x66 || *ip >= 0xf2)
            prefix = *ip;
        ip++;
    }
    if ((*ip & 0xf0) == 0x40)
        rex = *ip++;
    op = *ip++;
    if (op == 0x0f)
        op = 0x0f00u | *ip++;
    if (*ip >> 6 == 3)
        return false;
    reg = (*ip >> 3 & 7) | (rex & 4 ? 8 : 0);
    if ((op == 0x89 || op == 0x0fc3) && rex & 8) {
        *value = general(uc, reg);
    } else if (op == 0xc7 && rex & 8) {
        memcpy(&imm, ip + address_bytes(ip), sizeof imm);
        *value = (uint64_t)(int64_t)imm;
        more = sizeof imm;
    } else if ((op == 0x0f7e && prefix == 0x66 && rex & 8) ||
               (op == 0x0fd6 && prefix == 0x66) ||
               (op == 0x0f11 && prefix == 0xf2) ||
               (op == 0x0f13 && (!prefix || prefix == 0x66))) {
        *value = vector(uc, reg);
    } else {
        return false;
    }
    uc->uc_mcontext.gregs[REG_RIP] += ip - start + address_bytes(ip) + more;
    return true;
}
#elif defined(__aarch64__)
static bool step(ucontext_t *uc, uint64_t *value)
{
    uint32_t op, reg;

    memcpy(&op, (const void *)uc->uc_mcontext.pc, sizeof op);
    if ((op & 0xffc00000) != 0xf9000000 &&      /* STR, immediate offset */
        (op & 0xffe00c00) != 0xf8000000 &&      /* STUR */
        (op & 0xffe00c00) != 0xf8200800 &&      /* STR, register offset */
        (op & 0xfffffc00) != 0xc89ffc00)        /* STLR */
        return false;
    reg = op & 31;
    *value = reg == 31 ? 0 : uc->uc_mcontext.regs[reg];
    uc->uc_mcontext.pc += 4;
    return true;
}
#else
static bool step(ucontext_t *uc, uint64_t *value)
{
    (void)uc, (void)value;
    return false;
}
#endif

/* A fault that has nothing to do with doorbells. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(sig, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(sig);
    else
        signal(sig, SIG_DFL);   /* it faults again */
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    uintptr_t off = (uintptr_t)info->si_addr - (uintptr_t)base;
    struct ring r = { 0 };
    int saved = errno;

    if (!base || off >= page * PAGES) {
        pass_on(sig, info, context);
        return;
    }
    r.cntr = atomic_load(&owner[off / page]);
    r.at = off % page;
    if (!r.cntr)
        cxi_rule(0, "15", "the doorbell of a counter that was closed");
    if (!step(context, &r.value)) {
        cxi_rule(0, "15", "a doorbell takes one plain store of 8 bytes, "
                 "nothing else (offset %u)", (unsigned)r.at);
        abort();
    }
    if (r.at % 64 || r.at > DOORBELL_RESETERR)
        cxi_rule(0, "15", "a doorbell has nothing at offset %u",
                 (unsigned)r.at);
    else if (r.at >= DOORBELL_RESET && r.value)
        cxi_rule(0, "15", "a doorbell resets to 0 only, not to %llu",
                 (unsigned long long)r.value);
    else if (r.cntr && r.value > (r.at ? CXI_ERROR_MAX : CXI_SUCCESS_MAX))
        cxi_rule(0, "15", "%llu is more than a counter has bits for",
                 (unsigned long long)r.value);
    else if (r.cntr) {
        atomic_fetch_add(&r.cntr->dom->doorbells, 1);
        if (write(r.cntr->dom->doorbell_pipe[1], &r, sizeof r) != sizeof r)
            abort();
    }
    errno = saved;
}

/* Again whenever the program has installed a handler of its own. */
static int listen_to_faults(void)
{
    struct sigaction now, ours = { .sa_sigaction = on_fault,
                                   .sa_flags = SA_SIGINFO | SA_NODEFER };

    if (sigaction(SIGSEGV, NULL, &now))
        return -FI_EINVAL;
    if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault)
        return 0;
    before = now;
    return sigaction(SIGSEGV, &ours, NULL) ? -FI_EINVAL : 0;
}

void cxi_doorbell_forget(void)
{
    struct sigaction now;

    if (!sigaction(SIGSEGV, NULL, &now) && now.sa_flags & SA_SIGINFO &&
        now.sa_sigaction == on_fault)
        sigaction(SIGSEGV, &before, NULL);
}

int cxi_doorbell_open(struct cxi_cntr *cntr, void **out)
{
    int i = 0, rc = 0;

    pthread_mutex_lock(&lock);
    if (!base) {
        void *p;

        page = (size_t)sysconf(_SC_PAGESIZE);
        /* And one more, where the system only says that they are as large. */
        p = mmap(NULL, page * (PAGES + 1), PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        base = p == MAP_FAILED ? NULL
               : (char *)p + (page - (uintptr_t)p % page) % page;
    }
    if (!cntr->page && base) {
        while (i < PAGES && atomic_load(&owner[i]))
            i++;
        if (i < PAGES) {
            atomic_store(&owner[i], cntr);
            cntr->page = base + (size_t)i * page;
        }
    }
    rc = cntr->page ? listen_to_faults() : -FI_ENOMEM;
    pthread_mutex_unlock(&lock);
    if (!rc)
        *out = cntr->page;
    return rc;
}

void cxi_doorbell_close(struct cxi_cntr *cntr)
{
    if (!cntr->page)
        return;
    cxi_doorbell_take(cntr->dom);
    atomic_store(&owner[(size_t)(cntr->page - base) / page], NULL);
}

int cxi_doorbell_start(struct cxi_domain *dom)
{
    if (pipe2(dom->doorbell_pipe, O_CLOEXEC))
        return -FI_EMFILE;
    /* A writer waits for room. */
    fcntl(dom->doorbell_pipe[0], F_SETFL, O_NONBLOCK);
    return 0;
}

void cxi_doorbell_stop(struct cxi_domain *dom)
{
    close(dom->doorbell_pipe[0]);
    close(dom->doorbell_pipe[1]);
}

static void rung(const struct ring *r)
{
    switch (r->at) {
    case DOORBELL_ADD:
        cxi_cntr_change(r->cntr, false, true, r->value);
        break;
    case DOORBELL_ADDERR:
        cxi_cntr_change(r->cntr, true, true, r->value);
        break;
    default:
        cxi_cntr_change(r->cntr, r->at == DOORBELL_RESETERR, false, 0);
        cxi_cntr_write_back(r->cntr);
    }
}

void cxi_doorbell_take(struct cxi_domain *dom)
{
    struct ring r[64];
    ssize_t n;

    while (atomic_load(&dom->doorbells) > 0) {
        n = read(dom->doorbell_pipe[0], r, sizeof r);
        if (n <= 0)             /* announced, not yet posted */
            return;
        n /= (ssize_t)sizeof r[0];
        for (ssize_t i = 0; i < n; i++)
            rung(&r[i]);
        dom->log.doorbells += (uint64_t)n;
        atomic_fetch_sub(&dom->doorbells, (int)n);
    }
}
