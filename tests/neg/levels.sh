#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: inits are counted, each wants its finalize, one too many is
# a warning; thread levels rise, and a level that is none is an error.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
#define WANT(expr, value)                                               \
    do {                                                                \
        long is_ = (expr), want_ = (value);                             \
        if (is_ != want_)                                               \
            printf("line %d: %s is %ld, not %ld\n", __LINE__, #expr,    \
                   is_, want_);                                         \
    } while (0)
static long a;

static int up(void)
{
    int is = -1;

    shmem_query_initialized(&is);
    return is;
}

static int level(void)
{
    int is = -1;

    shmem_query_thread(&is);
    return is;
}

/* The job works: each PE counts itself at every other. */
static void use(void)
{
    int n = shmem_n_pes();

    a = 0;
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++)
        shmem_long_atomic_inc(&a, pe);
    shmem_barrier_all();
    WANT(a, n);
    shmem_barrier_all();
}

/* An earlier finalize is a barrier, and no more. */
static void nested(void)
{
    long *block;

    shmem_init();
    block = shmem_malloc(8);
    shmem_init();
    shmem_init();
    use();
    *block = 0;
    shmem_barrier_all();
    shmem_long_p(block, 7, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_finalize();
    WANT(*block, 7);
    WANT(up(), 1);
    use();
    shmem_finalize();
    WANT(up(), 1);
    use();
    shmem_free(block);
    shmem_finalize();
    WANT(up(), 0);
}

static void again(void)
{
    for (int i = 0; i < 3; i++) {
        shmem_init();
        use();
        shmem_finalize();
        WANT(up(), 0);
    }
}

static void levels(void)
{
    int got = -1;

    WANT(shmem_init_thread(SHMEM_THREAD_FUNNELED, &got), 0);
    WANT(got, SHMEM_THREAD_FUNNELED);
    WANT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &got), 0);
    WANT(got, SHMEM_THREAD_MULTIPLE);
    WANT(shmem_init_thread(SHMEM_THREAD_SINGLE, &got), 0);
    WANT(got, SHMEM_THREAD_MULTIPLE);
    WANT(shmem_init_thread(SHMEM_THREAD_SERIALIZED, NULL), 0);
    WANT(level(), SHMEM_THREAD_MULTIPLE);
    for (int i = 0; i < 4; i++)
        shmem_finalize();
    WANT(up(), 0);
    /* A new start knows nothing of the last one. */
    WANT(shmem_init_thread(SHMEM_THREAD_SERIALIZED, &got), 0);
    WANT(got, SHMEM_THREAD_SERIALIZED);
    shmem_finalize();
}

static void no_level(int asked)
{
    int got = -1;

    WANT(shmem_init_thread(asked, &got) != 0, 1);
    WANT(got, -1);
    WANT(up(), 0);
    shmem_init();
    use();
    shmem_finalize();
}

int main(int argc, char **argv)
{
    const char *word = argv[1];

    if (!strcmp(word, "nested"))
        nested();
    CASE(again) again();
    CASE(levels) levels();
    CASE(no_level) no_level(atoi(argv[argc - 1]));
    CASE(too_many) {
        shmem_init();
        shmem_init();
        shmem_finalize();
        shmem_finalize();
        if (getenv("SLUICE_JOB_PE") && strcmp(getenv("SLUICE_JOB_PE"), "1"))
            return 0;
        shmem_finalize();
        return 0;
    }
    CASE(too_few) {
        shmem_init();
        shmem_init();
        shmem_finalize();
        return 0;
    }
    CASE(start_pes) {
        start_pes(0);
        start_pes(5);
        use();
    }
    return 0;
}
C

for word in nested again levels start_pes; do
    works $word
done

for n in 0 2; do
    for level in -1 4 2147483647; do
        try $n ./bad no_level $level
        ended 0 "level $level"
        one='PE [01] \([^ ]+\)'
        [ $n -eq 2 ] || one='\([^ ]+\)'
        all_said "level $level" "sluice: $one: shmem_init_thread: $level is no thread level \\[S-E-ARG\\]"
    done
done

late='shmem_finalize: called after the last shmem_finalize; the call does nothing \[S-W-STATE\]'
try 0 ./bad too_many
ended 0 too_many
said too_many "sluice: PE 0 \\([^ ]+\\): $late"
try 2 ./bad too_many
ended 0 'too_many as PE 1 of 2'
said 'too_many as PE 1 of 2' "sluice: PE 1 \\([^ ]+\\): $late"

# An init that was left open: the exit does what is missing, and says so.
try 2 ./bad too_few
ended 0 'a finalize is missing'
all_said 'a finalize is missing' 'sluice: PE [01] \([^ ]+\): exit without shmem_finalize: .* \[S-W-EXIT\]'
finish 'levels of init and finalize'
