/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_alg.h - the algorithms of collectives and the words that choose them. */
#ifndef COLL_COLL_ALG_H
#define COLL_COLL_ALG_H

/* Algorithms, A(NAME, word in the environment). */
#define COLL_ALG_LIST(A)                                                    \
    A(AUTO, "auto") A(PUSH, "push") A(PULL, "pull") A(SPLIT, "split")       \
    A(BINOMIAL, "binomial") A(PIPELINE, "pipeline") A(BRUCK, "bruck")       \
    A(RING, "ring") A(PAIRWISE, "pairwise") A(DOUBLING, "doubling")         \
    A(NODES, "nodes") A(HALVING, "halving") A(SCATTER, "scatter")
#define COLL_ALG(NAME, WORD) COLL_##NAME,
enum coll_alg { COLL_ALG_LIST(COLL_ALG) COLL_ALGS };

/* Collectives, K(NAME, algorithms): these in the order of the words of
 * SHMEM_COLL_NAME in base/env_defs.h. */
#define COLL_KIND_LIST(K, A)                                                \
    K(BROADCAST, A(AUTO) A(PUSH) A(PULL) A(BINOMIAL) A(PIPELINE) A(NODES)   \
      A(SCATTER))                                                           \
    K(COLLECT, A(AUTO) A(PUSH) A(PULL) A(RING) A(NODES) A(BRUCK))           \
    K(FCOLLECT, A(AUTO) A(PUSH) A(PULL) A(BRUCK) A(RING) A(NODES))          \
    K(ALLTOALL, A(AUTO) A(PUSH) A(PULL) A(BRUCK) A(PAIRWISE))               \
    K(REDUCE, A(AUTO) A(PULL) A(SPLIT) A(DOUBLING) A(RING) A(NODES)         \
      A(HALVING))                                                           \
    K(SCAN, A(AUTO) A(PULL) A(DOUBLING))
#define COLL_KIND(NAME, ALGS) COLL_##NAME,
#define COLL_NO_ALG(NAME)
enum coll_kind { COLL_KIND_LIST(COLL_KIND, COLL_NO_ALG) COLL_KINDS };

/* The algorithm of that collective's word number n; COLL_ALGS if it has fewer
 * words. */
enum coll_alg coll_alg_at(enum coll_kind kind, int n);

#endif
