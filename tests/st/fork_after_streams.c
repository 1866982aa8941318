/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a child that is forked when streams have moved memory has all
 * that is not the library's own: its static data, its stack and what it has
 * allocated.  fake/cxi_fork.sh runs it where the NIC takes from a child what it
 * maps.
 * PEs: 2
 * Ppn: 2/1
 * Env: SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "st.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { SOME = 40, LONG = 100000 };

static uint64_t fixed[SOME], from[SOME], back[SOME], signals[2];
static char out[LONG], in[LONG];

/* ---- memory that a child would lack ---- */

struct range {
    uintptr_t from, to;
    const char *of;
};

static int overlaps(struct dl_phdr_info *i, size_t size, void *arg)
{
    struct range *r = arg;

    (void)size;
    for (int k = 0; k < i->dlpi_phnum; k++) {
        uintptr_t at = i->dlpi_addr + i->dlpi_phdr[k].p_vaddr;

        if (i->dlpi_phdr[k].p_type == PT_LOAD && at < r->to &&
            at + i->dlpi_phdr[k].p_memsz > r->from)
            r->of = i->dlpi_name[0] ? i->dlpi_name : "the program";
    }
    return 0;
}

/* Whose memory of that mapping is not the NIC's alone? */
static const char *owner(uintptr_t from_, uintptr_t to, const char *name)
{
    struct range r = { from_, to, NULL };

    if (strstr(name, "[heap]") || strstr(name, "[stack]"))
        return strstr(name, "[heap]") ? "malloc" : "the stack";
    dl_iterate_phdr(overlaps, &r);
    return r.of;
}

static int lacking(void)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    char line[4096], name[4096] = "";
    unsigned long a = 0, b = 0, x, y;
    const char *of;
    int n = 0;

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &x, &y) == 2) {
            a = x;
            b = y;
            snprintf(name, sizeof name, "%s", line);
        }
        of = !strncmp(line, "VmFlags:", 8) && strstr(line, " dc")
             ? owner(a, b, name) : NULL;
        if (of)
            fprintf(stderr, "PE %d: a child lacks %lu bytes of %s\n", me,
                    b - a, of);
        n += of != NULL;
    }
    if (f)
        fclose(f);
    return n;
}

/* ---- traffic ---- */

static void move(shmemx_stream_t s)
{
    uint64_t *heap = shmem_calloc(SOME, sizeof *heap);

    for (int i = 0; i < SOME; i++) {
        from[i] = 100 + (uint64_t)i;
        T_EQ(shmemx_putmem_on_stream(&fixed[i], &from[i], sizeof *from, next,
                                     s), 0);
        T_EQ(shmemx_uint64_p_on_stream(&heap[i], 7, next, s), 0);
        T_EQ(shmemx_uint64_atomic_fetch_add_on_stream(&back[i], &heap[i], 1,
                                                      next, s), 0);
    }
    T_EQ(shmemx_putmem_signal_on_stream(in, out, LONG, signals, 1,
                                        SHMEM_SIGNAL_ADD, next, s), 0);
    T_EQ(shmemx_uint64_wait_until_on_stream(signals, SHMEM_CMP_GE, 1, s), 0);
    T_EQ(shmemx_getmem_on_stream(out, in, LONG, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    for (int i = 0; i < SOME; i++)
        T_EQ(fixed[i], 100 + (uint64_t)i);
    shmem_free(heap);
}

/* Long ones, which wait for both ends. */
static void exchange(shmemx_stream_t s)
{
    char *a = shmem_malloc(LONG), *b = shmem_malloc(LONG);
    shmemx_queue_t q;
    shmemx_req_t r[2];

    memset(a, 'a' + me, LONG);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_send_init(a, LONG, next, 1, &r[0]), 0);
    T_EQ(shmemx_recv_init(b, LONG, prev, 1, &r[1]), 0);
    T_EQ(shmemx_matchall(2, r), 0);
    for (int i = 0; i < 4; i++) {
        T_EQ(shmemx_enqueue_startall(q, 2, r), 0);
        T_EQ(shmemx_enqueue_wait(q), 0);
    }
    T_EQ(shmemx_queue_wait(q), 0);
    T_EQ(b[LONG - 1], 'a' + prev);
    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_req_free(&r[i]), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    shmem_free(a);
    shmem_free(b);
}

/* ---- the child ---- */

static int child(void)
{
    char *p[SOME], stack[4096];
    int bad = 0;

    memset(stack, 1, sizeof stack);
    for (int i = 0; i < SOME; i++) {
        p[i] = malloc((size_t)i * 50 + 1);
        memset(p[i], i, (size_t)i * 50 + 1);
        bad += fixed[i] != 100 + (uint64_t)i;
        fixed[i] = 1;
    }
    for (int i = 0; i < SOME; i++)
        free(p[i]);
    return bad;
}

T(a_child_has_what_is_not_the_nics)
{
    shmemx_stream_t s = st_make();
    int status = -1;
    pid_t pid;

    move(s);
    exchange(s);
    T_EQ(lacking(), 0);
    pid = fork();
    if (!pid)
        _exit(child());
    T_EQ(waitpid(pid, &status, 0), pid);
    T_EQ(status, 0);
    T_EQ(fixed[0], 100);
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    T_RUN(a_child_has_what_is_not_the_nics);
    return st_end();
}
