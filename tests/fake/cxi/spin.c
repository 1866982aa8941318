/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * While an operation of the base provider is under way, its thread polls its
 * sockets without end.  Where PEs share cores, such threads keep that PE's
 * thread from running which has to answer, for a time slice at each step.  A
 * NIC needs no core: here the thread yields after some empty polls.  The call
 * of epoll_wait() in libfabric is led to the one below; where that cannot be
 * done, the stand-in is right, and slow.
 */
#include "cxi.h"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

/* Elsewhere loaders may leave the addresses below as offsets. */
#if defined(__x86_64__) || defined(__aarch64__)

enum { EMPTY_POLLS = 16 };

static int poll_or_yield(int fd, struct epoll_event *events, int most, int ms)
{
    static __thread unsigned empty;
    int n = epoll_wait(fd, events, most, ms);

    if (n || ms)
        empty = 0;
    else if (++empty > EMPTY_POLLS)
        sched_yield();
    return n;
}

static void lead(void **slot)
{
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
    char *page = (char *)slot - (uintptr_t)slot % size;

    /* Other calls on that page may yet be bound: it stays writable. */
    if (!mprotect(page, size, PROT_READ | PROT_WRITE))
        __atomic_store_n(slot, (void *)(uintptr_t)poll_or_yield,
                         __ATOMIC_RELAXED);
}

void cxi_spin_yields(void)
{
    const ElfW(Rela) *calls = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    struct link_map *map;
    size_t n = 0;
    Dl_info info;

    if (!dladdr1((void *)(uintptr_t)fi_getinfo, &info, (void **)&map,
                 RTLD_DL_LINKMAP))
        return;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        switch (d->d_tag) {
        case DT_JMPREL:   calls = (const void *)d->d_un.d_ptr;      break;
        case DT_PLTRELSZ: n = d->d_un.d_val / sizeof *calls;        break;
        case DT_SYMTAB:   symbols = (const void *)d->d_un.d_ptr;    break;
        case DT_STRTAB:   names = (const void *)d->d_un.d_ptr;      break;
        default: break;
        }
    for (size_t i = 0; calls && symbols && names && i < n; i++)
        if (!strcmp(names + symbols[ELF64_R_SYM(calls[i].r_info)].st_name,
                    "epoll_wait"))
            lead((void **)(map->l_addr + calls[i].r_offset));
}

#else
void cxi_spin_yields(void)
{
}
#endif
