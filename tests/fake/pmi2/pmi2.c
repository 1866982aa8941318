/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libpmi2.so.0: a stand-in for a launcher's client library.  Processes with
 * the same FAKE_PMI2_DIR are a job; PMI_RANK and PMI_SIZE say who they are.
 * What is put lies in files of that directory once its process comes to a
 * fence.  FAKE_PMI2_MAPPING is the attribute PMI_process_mapping, unset: the
 * launcher has none.
 *
 * It ends the program with a line where a rule is broken: one thread at a time
 * calls it; keys and values are short, printable, without ';' and '='; no key
 * is put twice; nothing is called before PMI2_Init or after PMI2_Finalize, and
 * an end without PMI2_Finalize shows in the script as a missing file.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { KEYS = 64, KEY = 64, VALUE = 1024, FAIL = -1 };

static struct {
    char key[KEY], value[VALUE];
} kept[KEYS];
static int n_kept, rank, size, fences;
static atomic_int inside;
static bool open_now, over;

static void broken(const char *what)
{
    fprintf(stderr, "fake pmi2: %s\n", what);
    abort();
}

static void enter(void)
{
    if (atomic_fetch_add(&inside, 1))
        broken("two threads call at a time");
    if (!open_now)
        broken(over ? "called after PMI2_Finalize" : "called before PMI2_Init");
}

static int leave(int rc)
{
    atomic_fetch_sub(&inside, 1);
    return rc;
}

static void path_of(char *out, size_t room, const char *name)
{
    snprintf(out, room, "%s/%s", getenv("FAKE_PMI2_DIR"), name);
}

static void make_file(const char *name, const char *text)
{
    char path[512], draft[540];
    FILE *f;

    path_of(path, sizeof path, name);
    snprintf(draft, sizeof draft, "%s.%d.new", path, rank);
    f = fopen(draft, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) || rename(draft, path))
        broken("cannot write a file");
}

static bool is_there(const char *name)
{
    char path[512];

    path_of(path, sizeof path, name);
    return access(path, F_OK) == 0;
}

static void check_text(const char *text, size_t room)
{
    if (strlen(text) >= room)
        broken("a key or a value is too long");
    for (; *text; text++)
        if (*text <= ' ' || *text > '~' || *text == ';' || *text == '=')
            broken("a key or a value has a character that the wire has not");
}

EXPORT int PMI2_Init(int *spawned, int *out_size, int *out_rank, int *app);
EXPORT int PMI2_Initialized(void);
EXPORT int PMI2_Finalize(void);
EXPORT int PMI2_Abort(int whole_job, const char *text);
EXPORT int PMI2_Job_GetRank(int *out);
EXPORT int PMI2_Info_GetSize(int *out);
EXPORT int PMI2_Info_GetJobAttr(const char *name, char *value, int room,
                                int *found);
EXPORT int PMI2_KVS_Put(const char *key, const char *value);
EXPORT int PMI2_KVS_Fence(void);
EXPORT int PMI2_KVS_Get(const char *job, int of, const char *key, char *value,
                        int room, int *len);

int PMI2_Init(int *spawned, int *out_size, int *out_rank, int *app)
{
    const char *r = getenv("PMI_RANK"), *s = getenv("PMI_SIZE");

    if (open_now || over)
        broken("PMI2_Init is called twice");
    if (!r || !s || !getenv("FAKE_PMI2_DIR"))
        return FAIL;
    *out_rank = rank = atoi(r);
    *out_size = size = atoi(s);
    *spawned = *app = 0;
    open_now = true;
    return 0;
}

int PMI2_Initialized(void)
{
    return open_now;
}

int PMI2_Finalize(void)
{
    char name[32];

    enter();
    snprintf(name, sizeof name, "final.%d", rank);
    make_file(name, "");
    open_now = false;
    over = true;
    return leave(0);
}

int PMI2_Abort(int whole_job, const char *text)
{
    (void)whole_job;
    make_file("aborted", text);
    exit(14);
}

int PMI2_Job_GetRank(int *out)
{
    enter();
    *out = rank;
    return leave(0);
}

int PMI2_Info_GetSize(int *out)
{
    enter();
    *out = 1;                   /* of the node, as pmi2.h has it */
    return leave(0);
}

int PMI2_Info_GetJobAttr(const char *name, char *value, int room, int *found)
{
    const char *map = getenv("FAKE_PMI2_MAPPING");

    enter();
    *found = map && !strcmp(name, "PMI_process_mapping");
    if (*found)
        snprintf(value, (size_t)room, "%s", map);
    return leave(0);
}

int PMI2_KVS_Put(const char *key, const char *value)
{
    enter();
    check_text(key, KEY);
    check_text(value, VALUE);
    if (is_there(key))
        broken("a key is put twice");
    if (n_kept == KEYS)
        broken("too much is put before a fence");
    strcpy(kept[n_kept].key, key);
    strcpy(kept[n_kept++].value, value);
    return leave(0);
}

int PMI2_KVS_Fence(void)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    char name[48];

    enter();
    for (int i = 0; i < n_kept; i++)
        make_file(kept[i].key, kept[i].value);
    n_kept = 0;
    snprintf(name, sizeof name, "fence.%d.%d", fences, rank);
    make_file(name, "");
    for (int r = 0; r < size; r++) {
        snprintf(name, sizeof name, "fence.%d.%d", fences, r);
        while (!is_there(name)) {
            if (is_there("aborted"))
                _exit(15);
            nanosleep(&pause, NULL);
        }
    }
    fences++;
    return leave(0);
}

int PMI2_KVS_Get(const char *job, int of, const char *key, char *value,
                 int room, int *len)
{
    char path[512];
    FILE *f;
    int rc = FAIL;

    (void)job, (void)of;
    enter();
    check_text(key, KEY);
    path_of(path, sizeof path, key);
    f = fopen(path, "r");
    if (f && fgets(value, room, f)) {
        *len = (int)strlen(value);
        rc = 0;
    }
    if (f)
        fclose(f);
    return leave(rc);
}
