/* SPDX-License-Identifier: BSD-3-Clause */
/* atomics.h - the fences and pauses that C11 has no good word for. */
#ifndef BASE_ATOMICS_H
#define BASE_ATOMICS_H

#include <stdint.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
/* For the bodies of the public calls: their default context is a constant
 * that must reach every condition. */
#define force_inline static inline __attribute__((always_inline))
/* Declares data of the library that other files read: without it each read
 * would first look the address up in the global offset table. */
#define hidden __attribute__((visibility("hidden")))
/* Data that every operation reads, kept together: few cache lines. */
#define hot_data __attribute__((section(".data.sluice_hot")))

/* Two threads of a process may be ordered by way of another process: one
 * notifies a peer, and the other receives the peer's reply.  The thread
 * sanitizer sees one process only, so these calls report that a thread that
 * receives may follow any thread that notified. */
#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *);
void __tsan_release(void *);
extern hidden char atomics_tsan_sync;
/* It does not know fences, so these calls report them. */
#pragma GCC diagnostic ignored "-Wtsan"
#define atomics_tsan_release() __tsan_release(&atomics_tsan_sync)
#define atomics_tsan_acquire() __tsan_acquire(&atomics_tsan_sync)
#else
#define atomics_tsan_release() ((void)0)
#define atomics_tsan_acquire() ((void)0)
#endif

/* Every earlier store is visible to all before any later load is done.  On
 * x86 a locked read-modify-write of the stack does this in a third of the
 * time of mfence; the copy routines fence their own non-temporal stores. */
static inline void atomics_full_fence(void)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    __asm__ volatile("lock; orl $0, -4(%%rsp)" ::: "memory", "cc");
#else
    atomics_tsan_release();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    atomics_tsan_acquire();
#endif
}

/* Earlier stores are visible before later ones; loads are not held back. */
static inline void atomics_store_fence(void)
{
    atomics_tsan_release();
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Earlier loads are done before later loads and stores: no instruction on
 * x86. */
static inline void atomics_load_fence(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static inline void atomics_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
