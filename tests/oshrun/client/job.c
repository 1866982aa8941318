/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - a PE that talks PMIx without the library.
 *
 *   job [rounds [first]]
 *                  in each round: init, check what the server says about the
 *                  job, put a key, fence, get the keys of all, finalize;
 *                  FIRST counts the rounds of earlier processes of this PE
 *   job abort S    PE 1 calls PMIx_Abort with status S, the others fence
 *   job leave      PE 1 exits with 0 after PMIx_Init, the others fence
 *   job leave-all  all do
 *   job die        PE 1 kills itself, the others fence */
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;

static void check(int ok, const char *what)
{
    if (ok)
        return;
    printf("PE %u: %s\n", me.rank, what);
    exit(9);
}

static void must(pmix_status_t st, const char *what)
{
    if (st == PMIX_SUCCESS)
        return;
    printf("PE %u: %s: %s\n", me.rank, what, PMIx_Error_string(st));
    exit(9);
}

static unsigned number(pmix_rank_t rank, const char *key)
{
    pmix_value_t *v;
    pmix_proc_t p;
    unsigned n = 0;
    pmix_status_t st = PMIX_SUCCESS;

    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    must(PMIx_Get(&p, key, NULL, 0, &v), key);
    if (v->type == PMIX_UINT16)
        n = v->data.uint16;
    else
        PMIX_VALUE_GET_NUMBER(st, v, n, unsigned);
    must(st, key);
    PMIX_VALUE_RELEASE(v);
    return n;
}

static char *text(pmix_rank_t rank, const char *key)
{
    pmix_value_t *v;
    pmix_proc_t p;
    char *s;

    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    must(PMIx_Get(&p, key, NULL, 0, &v), key);
    check(v->type == PMIX_STRING, key);
    s = strdup(v->data.string);
    PMIX_VALUE_RELEASE(v);
    return s;
}

static unsigned check_job(void)
{
    unsigned n = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), commas = 0;
    char *peers = text(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS), host[256], *name;

    check(number(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE) == n, "universe size");
    check(number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE) == n, "local size");
    check(number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES) == 1, "nodes");
    check(number(PMIX_RANK_WILDCARD, PMIX_APPNUM) == 0, "application number");
    check(number(me.rank, PMIX_LOCAL_RANK) == me.rank, "local rank");
    check(number(me.rank, PMIX_NODE_RANK) == me.rank, "node rank");
    check(number(me.rank, PMIX_NODEID) == 0, "node number");
    for (char *c = peers; *c; c++)
        commas += *c == ',';
    check(commas + 1 == n, "local peers");
    gethostname(host, sizeof(host));
    name = text(me.rank, PMIX_HOSTNAME);
    check(strcmp(name, host) == 0, "host name");
    check(strcmp(text(PMIX_RANK_WILDCARD, PMIX_JOBID), me.nspace) == 0,
          "job name");
    return n;
}

static void fence(void)
{
    pmix_info_t info;
    bool yes = true;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    must(PMIx_Fence(NULL, 0, &info, 1), "PMIx_Fence");
}

/* A server may see the end of the last round's connections only in a fence
 * of this one, and then break it: so all have to be back before. */
static void await_all(unsigned n, int round)
{
    pmix_value_t v = { .type = PMIX_UINT32 }, *got = NULL;
    char key[32];
    pmix_proc_t p;

    snprintf(key, sizeof(key), "back.%d", round);
    must(PMIx_Put(PMIX_GLOBAL, key, &v), "PMIx_Put");
    must(PMIx_Commit(), "PMIx_Commit");
    for (unsigned i = 0; i < n; i++) {
        PMIX_LOAD_PROCID(&p, me.nspace, i);
        while (PMIx_Get(&p, key, NULL, 0, &got) != PMIX_SUCCESS)
            usleep(1000);
        PMIX_VALUE_RELEASE(got);
    }
}

static void exchange(unsigned n, int round)
{
    char key[32], word[32];
    pmix_value_t v, *got;
    pmix_proc_t p;

    snprintf(key, sizeof(key), "test.%d", round);
    snprintf(word, sizeof(word), "PE %u, round %d", me.rank, round);
    v.type = PMIX_BYTE_OBJECT;
    v.data.bo.bytes = word;
    v.data.bo.size = strlen(word) + 1;
    must(PMIx_Put(PMIX_GLOBAL, key, &v), "PMIx_Put");
    must(PMIx_Commit(), "PMIx_Commit");
    fence();
    for (unsigned i = 0; i < n; i += n > 64 ? n - 1 : 1) {
        PMIX_LOAD_PROCID(&p, me.nspace, i);
        must(PMIx_Get(&p, key, NULL, 0, &got), "PMIx_Get");
        snprintf(word, sizeof(word), "PE %u, round %d", i, round);
        check(strcmp(got->data.bo.bytes, word) == 0, "key of another PE");
        PMIX_VALUE_RELEASE(got);
    }
}

static int misbehave(const char *how, int status)
{
    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    fence();
    if (strcmp(how, "leave-all") == 0)
        return 0;
    if (me.rank == 1 && strcmp(how, "abort") == 0) {
        PMIx_Abort(status, "", NULL, 0);
        sleep(20);
    }
    if (me.rank == 1 && strcmp(how, "die") == 0)
        raise(SIGKILL);
    if (me.rank == 1)
        return 0;
    if (strcmp(how, "die") == 0)    /* the loss would break a fence */
        sleep(20);
    fence();
    sleep(20);
    return 0;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    int first = argc > 2 ? atoi(argv[2]) : 0;
    unsigned n = 0;

    if (argc > 1 && rounds == 0)
        return misbehave(argv[1], argc > 2 ? atoi(argv[2]) : 0);
    for (int round = first; round < first + rounds; round++) {
        must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
        n = check_job();
        if (round)
            await_all(n, round);
        exchange(n, round);
        must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    }
    printf("PE %u of %u\n", me.rank, n);
    return 0;
}
