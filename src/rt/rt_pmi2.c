/* SPDX-License-Identifier: BSD-3-Clause */
/* rt_pmi2.c - the driver for launchers that have PMI-2 and no PMIx: srun
 * --mpi=pmi2, Cray's PALS.  Their client library is loaded when they have
 * started this process; its values are text, so what is published goes as
 * hexadecimal digits, in pieces.
 *
 * The library has one connection, and no thread may ask for anything while
 * another is in a fence.  A thread that serves peers may have to look one up
 * just then, though, and that peer may not come to the fence before it has its
 * answer: so what threads look up later is fetched for all PEs before the next
 * fence, and found without the library. */
#include "rt/rt.h"
#include "rt/rt_int.h"
#include "base/dl.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of its header: the sizes that it allows, with the terminating zero. */
enum { KEY = 64, VALUE = 1024, PIECE = 480, ID_NULL = -1 };
/* Of values that threads look up. */
enum { LOOKED_UP_MOST = 4096 };

#define PMI2_CALLS(X) \
    X(Init, (int *spawned, int *size, int *rank, int *appnum)) \
    X(Initialized, (void)) X(Finalize, (void)) \
    X(Abort, (int whole_job, const char *text)) \
    X(Job_GetRank, (int *rank)) X(Info_GetSize, (int *size)) \
    X(Info_GetJobAttr, (const char *name, char *value, int room, int *found)) \
    X(KVS_Put, (const char *key, const char *value)) \
    X(KVS_Fence, (void)) \
    X(KVS_Get, (const char *job, int of, const char *key, char *value, \
                int room, int *len))
static struct {
#define PMI2_SLOT(name, args) int (*name) args;
    PMI2_CALLS(PMI2_SLOT)
#undef PMI2_SLOT
} lib;

/* Values that each PE publishes and any thread may look up: of all PEs. */
struct known {
    char key[24];
    bool fenced, all;           /* may be fetched; is fetched */
    struct known *next;
    struct value {
        uint8_t *bytes;         /* or NULL: not fetched */
        size_t size;
    } values[];                 /* n_pes of them */
};

/* Of the library; and, taken inside it, of known values. */
static struct base_lock lock = LOCK_INIT, table = LOCK_INIT;
static struct known *all_known GUARDED_BY(table);
/* Published values are not taken back: each session has its own keys. */
static unsigned generation;
static pid_t owner;             /* is to finalize; 0: not this driver */
static bool aborting;           /* atomic */

/* ---- the library ---- */

/* Hydra speaks an older PMI to its processes, on the same descriptor. */
bool rt_pmi2_invites(void)
{
    static const char *const set[] = {
        "PMI_FD", "PMI_RANK", "PMI_CONTROL_PORT", "PALS_RANKID"
    };

    if (env_foreign("HYDI_CONTROL_FD"))
        return false;
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        if (env_foreign(set[i]))
            return true;
    return false;
}

static int load(const char **why)
{
    static const char *const names[] = {
        "libpmi2.so.0", "libpmi2.so", NULL
    };
#define PMI2_SYM(name, args) { "PMI2_" #name, &lib.name },
    static const struct dl_sym syms[] = { PMI2_CALLS(PMI2_SYM) };
#undef PMI2_SYM
    static void *handle;
    int rc = handle ? 0 : dl_open(names, syms,
                                  (int)(sizeof syms / sizeof *syms), &handle);

    if (rc == -ENOTSUP)
        *why = "a program linked with -static cannot load libpmi2.so.0";
    else if (rc == -ENOENT)
        *why = "libpmi2.so.0 cannot be loaded";
    else if (rc)
        *why = "libpmi2.so.0 lacks a symbol";
    return rc;
}

/* Launchers take an end without it for a failure.  A forked child's end is not
 * that of the PE. */
static void finalize(void)
{
    if (owner == getpid() && !__atomic_load_n(&aborting, __ATOMIC_RELAXED))
        lib.Finalize();
}

/* Where another library began the session: some libraries give the number of
 * processes on the node, or none. */
static int size_of_job(int *size)
{
    static const char *const set[] = { "PMI_SIZE", "PALS_NRANKS" };
    const char *text;

    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        text = env_foreign(set[i]);
        if (text && atoi(text) > 0) {
            *size = atoi(text);
            return 0;
        }
    }
    return lib.Info_GetSize(size);
}

/* A process has one session for life: the library may find it open. */
static int begin(int *size, int *rank)
{
    static int job_size, job_rank;
    int spawned, app, rc;

    if (lib.Initialized() && !owner)
        return lib.Job_GetRank(rank) || size_of_job(size);
    if (!owner) {
        rc = fault_hit(FAULT_RT_INIT) ? -1
             : lib.Init(&spawned, &job_size, &job_rank, &app);
        if (rc)
            return rc;
        owner = getpid();
        atexit(finalize);
    }
    *size = job_size;
    *rank = job_rank;
    return 0;
}

/* ---- values ---- */

static void full_key(char out[KEY], const char *key, int pe, size_t piece)
{
    snprintf(out, KEY, "sluice.%u.%d.%s.%zu", generation, pe, key, piece);
}

static void to_text(char *out, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    out[2 * n] = '\0';
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : -1;
}

static bool from_text(uint8_t *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int high = digit(text[2 * i]);
        int low = high < 0 ? -1 : digit(text[2 * i + 1]);

        if (low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static size_t pieces_of(size_t size)
{
    return size ? (size + PIECE - 1) / PIECE : 1;
}

static int put_text(const char *key, const uint8_t *bytes, size_t size)
    REQUIRES(lock)
{
    char name[KEY], text[VALUE];

    for (size_t k = 0, at = 0; k < pieces_of(size); k++, at += PIECE) {
        size_t n = size - at < PIECE ? size - at : PIECE;
        int used = snprintf(text, sizeof text, "%zu:", size);

        to_text(text + used, bytes + at, n);
        full_key(name, key, rt_job.pe, k);
        if (lib.KVS_Put(name, text))
            return -EPROTO;
    }
    return 0;
}

/* -ENOENT: it has not published that; -EMSGSIZE: *has bytes are published, and
 * room is less. */
static int get_text(int pe, const char *key, uint8_t *out, size_t room,
                    size_t *has) REQUIRES(lock)
{
    char name[KEY], text[VALUE], *end;

    *has = 0;
    for (size_t k = 0, at = 0, n; k < pieces_of(*has); k++, at += PIECE) {
        int len = 0;

        full_key(name, key, pe, k);
        memset(text, 0, sizeof text);
        if (lib.KVS_Get(NULL, ID_NULL, name, text, sizeof text - 1, &len) ||
            len <= 0)
            return -ENOENT;
        *has = strtoul(text, &end, 10);
        if (*end != ':' || *has < at)
            return -EPROTO;
        if (*has > room)
            return -EMSGSIZE;
        n = *has - at < PIECE ? *has - at : PIECE;
        if (strlen(end + 1) != 2 * n || !from_text(out + at, end + 1, n))
            return -EPROTO;
    }
    return 0;
}

/* ---- what threads look up ---- */

/* Addresses and keys of the network: ofi_peer.c, ofi_grow.c. */
static bool is_looked_up(const char *key)
{
    return !strncmp(key, "ofi", 3);
}

static struct known *known_of(const char *key) REQUIRES(table)
{
    struct known *k = all_known;

    while (k && strcmp(k->key, key))
        k = k->next;
    return k;
}

static int remember(const char *key) REQUIRES(table)
{
    struct known *k;

    if (known_of(key))
        return 0;
    k = calloc(1, sizeof *k + (size_t)rt_job.n_pes * sizeof k->values[0]);
    if (!k)
        return -ENOMEM;
    snprintf(k->key, sizeof k->key, "%s", key);
    k->next = all_known;
    all_known = k;
    return 0;
}

/* The known value of that PE: its size, or -ENOENT. */
static int recall(int pe, const char *key, void *out, size_t size, size_t *has)
{
    const struct value *v;
    struct known *k;
    int rc = -ENOENT;

    lock_acquire(&table);
    k = known_of(key);
    v = k ? &k->values[pe] : NULL;
    if (v && v->bytes) {
        *has = v->size;
        rc = v->size > size ? -EMSGSIZE : 0;
        if (!rc)
            memcpy(out, v->bytes, v->size);
    }
    lock_release(&table);
    return rc;
}

/* The entry k stays until the end, and what is known stays as it is. */
static int fetch(struct known *k, int pe) REQUIRES(lock)
{
    uint8_t bytes[LOOKED_UP_MOST], *copy;
    size_t size;
    int rc = get_text(pe, k->key, bytes, sizeof bytes, &size);

    if (rc)
        return rc;
    copy = malloc(size + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, bytes, size);
    lock_acquire(&table);
    k->values[pe] = (struct value){ copy, size };
    lock_release(&table);
    return 0;
}

static struct known *first_known(void)
{
    struct known *k;

    lock_acquire(&table);
    k = all_known;
    lock_release(&table);
    return k;
}

/* A value that is not there is missed by the thread that looks it up. */
static void fetch_all(void) REQUIRES(lock)
{
    for (struct known *k = first_known(); k; k = k->next) {
        for (int pe = 0; k->fenced && !k->all && pe < rt_job.n_pes; pe++)
            if (!k->values[pe].bytes)   /* written under this lock */
                fetch(k, pe);
        k->all = k->fenced;
    }
}

static void forget(void)
{
    struct known *k;

    lock_acquire(&table);
    while ((k = all_known)) {
        all_known = k->next;
        for (int pe = 0; pe < rt_job.n_pes; pe++)
            free(k->values[pe].bytes);
        free(k);
    }
    lock_release(&table);
}

/* ---- the calls ---- */

/* PMI-2 values have no scope: all nodes see those for one node, too. */
static int put(const char *key, const void *value, size_t size, bool on_node)
{
    int rc = 0;

    (void)on_node;
    lock_acquire(&lock);
    if (is_looked_up(key)) {
        lock_acquire(&table);
        rc = size > LOOKED_UP_MOST ? -EMSGSIZE : remember(key);
        lock_release(&table);
    }
    if (!rc)
        rc = put_text(key, value, size);
    lock_release(&lock);
    if (rc)
        log_error(ERR_PMI, "PMI2_KVS_Put of %s, %zu bytes: %s", key, size,
                  strerror(-rc));
    return rc;
}

static int kvs_fence(void)
{
    int rc;

    lock_acquire(&lock);
    fetch_all();
    rc = fault_hit(FAULT_RT_FENCE) ? -1 : lib.KVS_Fence();
    for (struct known *k = first_known(); k && !rc; k = k->next)
        k->fenced = true;
    lock_release(&lock);
    return rc;
}

static int fence(void)
{
    int rc = kvs_fence();

    if (!rc)
        return 0;
    rt_await_end();
    log_error(ERR_PMI, "PMI2_KVS_Fence of %d PEs: error %d", rt_job.n_pes, rc);
    return -EPROTO;
}

/* Not known yet: of what threads look up, and of what only one looks at. */
static int get_unknown(int pe, const char *key, void *out, size_t size,
                       size_t *has)
{
    const struct timespec pause = { .tv_nsec = 100000 };
    struct known *k;
    int rc;

    /* A fence has the lock until all PEs have come, and one of them may wait
     * for this thread; before that it fetches what is looked up here. */
    while (!lock_try(&lock)) {
        rc = recall(pe, key, out, size, has);
        if (rc != -ENOENT)
            return rc;
        nanosleep(&pause, NULL);
    }
    lock_acquire(&table);
    k = known_of(key);
    lock_release(&table);
    rc = !k ? get_text(pe, key, out, size, has)
         : k->values[pe].bytes ? 0 : fetch(k, pe);
    lock_release(&lock);
    return rc || !k ? rc : recall(pe, key, out, size, has);
}

static int get(int pe, const char *key, void *out, size_t size, size_t *got)
{
    size_t has = 0;
    int rc = recall(pe, key, out, size, &has);

    if (rc == -ENOENT)
        rc = get_unknown(pe, key, out, size, &has);
    if (!rc && !got && has != size)
        rc = -EMSGSIZE;
    if (rc == -EMSGSIZE)
        log_error(ERR_PMI, "PMI2_KVS_Get of %s from PE %d: %zu bytes, %zu "
                  "expected: it runs another version of Sluice", key, pe, has,
                  size);
    else if (rc)
        log_error(ERR_PMI, "PMI2_KVS_Get of %s from PE %d: %s", key, pe,
                  rc == -ENOENT ? "it published none" : "no value of Sluice's");
    else if (got)
        *got = has;
    return rc;
}

/* ---- which PEs share a node ---- */

struct place {
    char host[56], boot[40];
};

static void this_place(struct place *out)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    memset(out, 0, sizeof *out);
    snprintf(out->host, sizeof out->host, "%s", log_host());
    if (f && !fgets(out->boot, sizeof out->boot, f))
        out->boot[0] = '\0';
    if (f)
        fclose(f);
}

static bool host_of(int pe, char *out, size_t size)
{
    struct place p;
    size_t has;
    bool found;

    /* It is for messages: a thread may be in a fence. */
    if (!lock_try(&lock))
        return false;
    found = !get_text(pe, "host", (uint8_t *)&p, sizeof p, &has);
    lock_release(&lock);
    if (found)
        snprintf(out, size, "%s", p.host);
    return found;
}

/* Without the launcher's mapping: all PEs publish their hosts. */
static int compare_hosts(int *out_n, int **out)
{
    int *pes = malloc((size_t)rt_job.n_pes * sizeof *pes), n = 0;
    struct place mine, its;
    int rc = pes ? fence() : -ENOMEM;

    this_place(&mine);
    for (int pe = 0; pe < rt_job.n_pes && !rc; pe++) {
        rc = get(pe, "host", &its, sizeof its, NULL);
        if (!rc && !memcmp(&its, &mine, sizeof mine))
            pes[n++] = pe;
    }
    if (rc) {
        free(pes);
        return rc;
    }
    *out_n = n;
    *out = pes;
    return 0;
}

static int find_local(void)
{
    char map[VALUE] = "";
    struct place mine;
    int found = 0, n, *pes, rc;

    this_place(&mine);
    rc = put("host", &mine, sizeof mine, false);
    if (rc)
        return rc;
    if (lib.Info_GetJobAttr("PMI_process_mapping", map, sizeof map, &found))
        found = 0;
    rc = found ? rt_mapping_parse(map, rt_job.n_pes, rt_job.pe, &n, &pes)
               : -EINVAL;
    if (rc == -EINVAL) {
        log_info(LOG_RT, "PMI_process_mapping is %s%.64s: the PEs compare "
                 "their hosts", found ? "" : "not there", found ? map : "");
        rc = compare_hosts(&n, &pes);
    }
    return rc ? rc : rt_keep_group(pes, n);
}

/* ---- the start ---- */

int rt_pmi2_begin(const char **why)
{
    int size, rank, rc = load(why);

    if (rc)
        return -ENOENT;
    rc = begin(&size, &rank);
    /* Slurm's, which finds no server of Slurm's, says that this PE is all. */
    *why = rc ? "PMI2_Init of libpmi2.so.0 failed"
           : size == 1 ? "libpmi2.so.0 knows of one PE; is it of another "
                         "launcher?"
           : "PMI2_Init of libpmi2.so.0 gave no rank";
    if (rc || size < 2 || rank < 0 || rank >= size)
        return -ENOENT;
    *why = NULL;
    rt_job.pe = rank;
    rt_job.n_pes = size;
    return 0;
}

static int open_pmi2(void)
{
    int rc;

    generation++;
    rt_job.launched = true;
    log_identify(rt_job.pe, log_host());
    rc = find_local();
    if (rc) {
        rt_job.launched = false;
        forget();
    }
    return rc;
}

/* The next session may come: the library ends with the process. */
static void close_pmi2(void)
{
    forget();
}

/* Another thread may be in a fence, which only this ends. */
static void abort_job(int status)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    char text[48];

    __atomic_store_n(&aborting, true, __ATOMIC_RELAXED);
    snprintf(text, sizeof text, "PE %d ends the job, status %d", rt_job.pe,
             status);
    for (int i = 0; i < 100; i++) {
        if (lock_try(&lock)) {
            lib.Abort(1, text);
            lock_release(&lock);
            return;
        }
        nanosleep(&pause, NULL);
    }
    lib.Abort(1, text);
}

const struct rt_driver rt_pmi2 = {
    .open = open_pmi2,
    .close = close_pmi2,
    .put = put,
    .fence = fence,
    .get = get,
    .host = host_of,
    .abort = abort_job,
};
