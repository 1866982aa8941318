#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a call with a context that was destroyed, by shmem_ctx_destroy or
# with its team, ends the job with one line, near and far, also after other
# contexts were made and destroyed; what was finalized says that.
# Light: most of it waits for launches
# Timeout: 60
set -u
. "$(dirname "$0")/neg.inc"
need_checks

cases <<'C'
    shmem_ctx_t ctx, live;
    shmem_team_t team;
    int list[1] = { other };

    for (int i = 0; i < 2000; i++) {    /* records are used again */
        if (shmem_ctx_create(i % 2 ? SHMEM_CTX_SERIALIZED : 0, &ctx))
            return 1;
        shmem_ctx_long_p(ctx, a, 1, other);
        shmem_ctx_quiet(ctx);
        shmem_ctx_destroy(ctx);
    }
    if (shmem_ctx_create(0, &ctx))
        return 1;
    shmem_ctx_long_put(ctx, a, b, 8, other);
    if (!strcmp(word, "with_team")) {
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team);
        shmem_team_create_ctx(team, 0, &live);
        shmem_ctx_destroy(ctx);
        ctx = live;
        shmem_ctx_long_put(ctx, a, b, 8, other);
        shmem_team_destroy(team);
    } else if (!strcmp(word, "finalized")) {
        shmem_barrier_all();
        shmem_finalize();
    } else if (strcmp(word, "good")) {
        shmem_ctx_destroy(ctx);
        for (int i = 0; i < 100; i++) {
            if (shmem_ctx_create(0, &live))
                return 1;
            if (i < 99)
                shmem_ctx_destroy(live);
        }
        shmem_ctx_long_put(live, a, b, 8, other);
        shmem_ctx_quiet(live);
    }
    if (!strcmp(word, "good")) {
        shmem_ctx_quiet(ctx);
        shmem_finalize();
        return 0;
    }
    if (strcmp(word, "finalized")) {
        ALONE
    }
    if (!strcmp(word, "put") || !strcmp(word, "with_team"))
        shmem_ctx_long_put(ctx, a, b, 1, other);
    CASE(finalized) shmem_ctx_long_put(ctx, a, b, 1, other);
    CASE(putmem) shmem_ctx_putmem(ctx, a, b, 40, other);
    CASE(none) shmem_ctx_putmem(ctx, a, b, 0, other);
    CASE(get) shmem_ctx_long_get(ctx, b, a, 8, other);
    CASE(get_nbi) shmem_ctx_long_get_nbi(ctx, b, a, 8, other);
    CASE(p) shmem_ctx_long_p(ctx, a, 1, other);
    CASE(g) b[0] = shmem_ctx_long_g(ctx, a, other);
    CASE(iput) shmem_ctx_long_iput(ctx, a, b, 2, 1, 3, other);
    CASE(fetch) b[0] = shmem_ctx_long_atomic_fetch_add(ctx, a, 1, other);
    CASE(inc) shmem_ctx_long_atomic_inc(ctx, a, other);
    CASE(put_signal) shmem_ctx_putmem_signal(ctx, a, b, 8, &sig, 1,
                                             SHMEM_SIGNAL_SET, other);
    CASE(quiet) shmem_ctx_quiet(ctx);
    CASE(fence) shmem_ctx_fence(ctx);
    CASE(pe_quiet) shmem_ctx_pe_quiet(ctx, list, 1);
    CASE(get_team) shmem_ctx_get_team(ctx, &team);
    CASE(destroy) shmem_ctx_destroy(ctx);
C

gone='the context was destroyed by an earlier call \[S-E-CTX\]'
refused put "shmem_ctx_long_put: $gone"
refused with_team "shmem_ctx_long_put: $gone"
refused quiet "shmem_ctx_quiet: $gone"
alone putmem "shmem_ctx_putmem: $gone"
alone none "shmem_ctx_putmem: $gone"
alone get "shmem_ctx_long_get: $gone"
alone get_nbi "shmem_ctx_long_get_nbi: $gone"
alone p "shmem_ctx_long_p: $gone"
alone g "shmem_ctx_long_g: $gone"
alone iput "shmem_ctx_long_iput: $gone"
alone fetch "shmem_ctx_long_atomic_fetch_add: $gone"
alone inc "shmem_ctx_long_atomic_inc: $gone"
alone put_signal "shmem_ctx_putmem_signal: $gone"
alone fence "shmem_ctx_fence: $gone"
alone pe_quiet "shmem_ctx_pe_quiet: $gone"
alone get_team "shmem_ctx_get_team: $gone"
alone destroy "shmem_ctx_destroy: $gone"
alone finalized 'shmem_ctx_long_put: called after the last shmem_finalize \[S-E-STATE\]'
works good
for word in put quiet fence destroy fetch; do
    try 2 --ppn 1 ./bad $word
    ended 1 "$word between nodes"
    grep -qE ": $gone" "$err" || fail "$word between nodes: $(cat "$err")"
done
finish 'destroyed contexts'
