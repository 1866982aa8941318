/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_calls.h - what kernel_calls.cu and kernel_calls.c share. */
#ifndef TESTS_DEVICE_KERNEL_CALLS_H
#define TESTS_DEVICE_KERNEL_CALLS_H

enum { N = 37, SLOTS = 8, SCOPES = 3, ROOM = 2 * N * 16 };
enum { PUT, PUT_NBI, IPUT, PUT_SIGNAL, GET, GET_NBI, IGET, ONE };
#define TYPES(X) X(char, char) X(short, short) X(int, int) X(long, long)    \
    X(float, float) X(double, double) X(unsigned long long, ulonglong)

/* Symmetric, in one memory: what a call of each scope moves to. */
struct area {
    char source[ROOM];
    char room[SCOPES][SLOTS][ROOM];
    unsigned long long signal[SCOPES];
};

struct counts {
    unsigned long long add, inc, swapped, cas, bits_or, bits_and, bits_xor;
    unsigned long long wrong;
    unsigned add32, inc32;
    float value;
    int order;                  /* a fetch_inc gives each thread another one */
    unsigned char seen[4096];
};

enum { ROUNDS = 50, LONGS = 3000 };
struct ring {
    long data[LONGS], sent[LONGS];
    unsigned long long arrived, taken;
    long slots[64];
    unsigned long long wrong;
};

enum { EACH = 16 };             /* puts of a thread of put_many */

/* Collectives: elements of a short call and of a long one. */
enum { SHORT = 5, LONG = 1500, MEMBERS = 8 };
struct coll {
    long to[MEMBERS * LONG], from[MEMBERS * LONG];
    float floats[LONG];
    unsigned long long wrong;
};

/* Tags: of all threads of the grid, of all its warps, of one thread with
 * arguments; and from BLOCK_TAG on one of each block. */
enum { THREADS_TAG, WARPS_TAG, CHOSEN_TAG, BLOCK_TAG, CHOSEN = 20 };
struct triggered {
    long threads, warps, blocks[64], chosen[CHOSEN + 1];
    long from[64 + CHOSEN + 1];
    unsigned long long arrived, wrong;
};


enum { PARTS = 6, PART_WORDS = 34 };
struct parts {
    long to[PARTS * PART_WORDS], from[PARTS * PART_WORDS];
    unsigned long long wrong;
};

#endif
