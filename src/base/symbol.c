/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of code: reads the symbol tables of the program's ELF files.  Called
 * for the statistics of calls and for backtraces; a file that is damaged or
 * stripped gives no name, and that is all. */
#include "base/symbol.h"
#include "base/fd.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else
static int backtrace(void **at, int n)
{
    (void)at, (void)n;
    return 0;
}
#endif

struct file {
    const unsigned char *at;
    size_t size;
};

static bool map(const char *path, struct file *out)
{
    int fd = fd_keep(open(path, O_RDONLY | O_CLOEXEC));
    struct stat st;
    void *p = MAP_FAILED;

    if (fd < 0)
        return false;
    if (!fstat(fd, &st) && st.st_size > 0)
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return false;
    *out = (struct file){ p, (size_t)st.st_size };
    return true;
}

/* NULL: the file has fewer bytes, or the place is not aligned. */
static const void *part(const struct file *f, uint64_t at, uint64_t n,
                        size_t size, size_t align)
{
    if (at > f->size || n > (f->size - at) / size || at % align)
        return NULL;
    return f->at + at;
}

struct function {
    const char *name;
    uintptr_t begin;
};

/* The function of the table around that offset. */
static bool search(const struct file *f, const ElfW(Shdr) *table,
                   const ElfW(Shdr) *strings, uintptr_t off,
                   struct function *out)
{
    size_t n = table->sh_size / sizeof(ElfW(Sym));
    const ElfW(Sym) *s = part(f, table->sh_offset, n, sizeof *s, sizeof(long));
    const char *names = part(f, strings->sh_offset, strings->sh_size, 1, 1);

    if (!s || !names || !strings->sh_size || names[strings->sh_size - 1])
        return false;
    for (size_t i = 0; i < n; i++)
        if ((s[i].st_info & 15) == STT_FUNC && s[i].st_shndx != SHN_UNDEF &&
            off - s[i].st_value < s[i].st_size &&
            s[i].st_name < strings->sh_size) {
            *out = (struct function){ names + s[i].st_name, s[i].st_value };
            return true;
        }
    return false;
}

/* The whole table, or that of exported names if the file is stripped. */
static bool find(const struct file *f, uintptr_t off, struct function *out)
{
    const ElfW(Ehdr) *e = part(f, 0, 1, sizeof *e, sizeof(long));
    const ElfW(Shdr) *s;
    static const unsigned kinds[] = { SHT_SYMTAB, SHT_DYNSYM };

    if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
        e->e_shentsize != sizeof *s)
        return false;
    s = part(f, e->e_shoff, e->e_shnum, sizeof *s, sizeof(long));
    for (size_t k = 0; s && k < 2; k++)
        for (unsigned i = 0; i < e->e_shnum; i++)
            if (s[i].sh_type == kinds[k] && s[i].sh_link < e->e_shnum &&
                search(f, &s[i], &s[s[i].sh_link], off, out))
                return true;
    return false;
}

typedef char *demangler(const char *, char *, size_t *, int *);
static demangler *demangle_fn;

void symbol_prepare(void)
{
    static const char name[] = "__cxa_demangle";
    void *at[1], *lib;

    backtrace(at, 1);           /* loads the unwinder */
    demangle_fn = (demangler *)dlsym(RTLD_DEFAULT, name);
    if (demangle_fn)
        return;
    lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (lib)
        demangle_fn = (demangler *)dlsym(lib, name);
}

static char *demangle(const char *name)
{
    int status;

    return demangle_fn && !strncmp(name, "_Z", 2)
           ? demangle_fn(name, NULL, NULL, &status) : NULL;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool symbol_is_allocator(const void *at)
{
    static const char *const names[] = {
        "malloc", "calloc", "realloc", "free", "cfree", "memalign",
        "aligned_alloc", "posix_memalign", "valloc", "pvalloc"
    };
    Dl_info in;

    if (!dladdr((void *)((uintptr_t)at - 1), &in) || !in.dli_sname)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(in.dli_sname, names[i]))
            return true;
    return !strncmp(in.dli_sname, "__libc_", 7) &&
           (strstr(in.dli_sname, "alloc") || strstr(in.dli_sname, "free") ||
            strstr(in.dli_sname, "memalign"));
}

void symbol_describe(const void *at, char *text, size_t size,
                     bool may_allocate)
{
    uintptr_t ip = (uintptr_t)at - 1, off;
    struct function fn;
    struct file f;
    Dl_info in;
    char *plain;

    if (!dladdr((void *)ip, &in) || !in.dli_fname) {
        snprintf(text, size, "%p", at);
        return;
    }
    off = ip - (uintptr_t)in.dli_fbase;
    if (!map(in.dli_fname, &f) && !map("/proc/self/exe", &f))
        f = (struct file){ NULL, 0 };
    if (!find(&f, off, &fn) && !find(&f, ip, &fn)) {    /* it is not PIE */
        snprintf(text, size, "%s+0x%zx", last_part(in.dli_fname), off);
    } else {
        plain = may_allocate ? demangle(fn.name) : NULL;
        snprintf(text, size, "%s (%s+0x%zx)", plain ? plain : fn.name,
                 last_part(in.dli_fname), off);
        free(plain);
    }
    if (f.at)
        munmap((void *)f.at, f.size);
}

/* ---- callers ---- */

static int find_range(struct dl_phdr_info *in, size_t size, void *arg)
{
    struct symbol_range *out = arg, r;
    uintptr_t self = (uintptr_t)symbol_own_range;

    (void)size;
    for (int i = 0; i < in->dlpi_phnum; i++) {
        r.from = in->dlpi_addr + in->dlpi_phdr[i].p_vaddr;
        r.to = r.from + in->dlpi_phdr[i].p_memsz;
        if (in->dlpi_phdr[i].p_type != PT_LOAD || self - r.from >= r.to - r.from)
            continue;
        *out = r;
        return 1 + (in->dlpi_name[0] == '\0');
    }
    return 0;
}

void symbol_own_range(struct symbol_range *out)
{
    if (dl_iterate_phdr(find_range, out) != 1)
        *out = (struct symbol_range){ 0, UINTPTR_MAX };
}

int symbol_frames(void **at, int most)
{
    return backtrace(at, most);
}

static bool is_in(const struct symbol_range *r, const void *at)
{
    return (uintptr_t)at - r->from < r->to - r->from;
}

enum { FRAMES = 24 };
const void *symbol_caller(const struct symbol_range *own)
{
    void *at[FRAMES];
    int n = symbol_frames(at, FRAMES);

    int i = 0;

    while (i < n && !is_in(own, at[i]))     /* a sanitizer's */
        i++;
    while (i < n && is_in(own, at[i]))
        i++;
    return i < n ? at[i] : NULL;
}

const char *symbol_public(const char *call)
{
    return call[0] == 'p' && (!strncmp(call + 1, "shmem", 5) || call[1] == '_' ||
                              !strncmp(call + 1, "start_pes", 9))
           ? call + 1 : call;
}
