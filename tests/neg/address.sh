#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: an address that is not symmetric, or an access that runs past
# the heap or the static data, is refused with the call and the address.
set -u
. "$(dirname "$0")/neg.inc"
need_checks

program bad <<'C'
static long a[8], rest[2000];
static const long fixed[4] = { 1, 2, 3, 4 };
static _Thread_local long threads;

/* The last byte from p on that is symmetric. */
static char *end_of(void *p)
{
    char *at = p;

    for (size_t step = (size_t)1 << 34; step; step /= 2)
        while (shmem_addr_accessible(at + step, shmem_my_pe()))
            at += step;
    return at;
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    long b[8] = { 0 }, *stack = &b[4], *block, *heap = malloc(64), *end;
    char *last;
    int me, other;

    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    other = me ? 0 : shmem_n_pes() - 1;
    block = shmem_malloc(64);
    last = end_of(strstr(word, "data") ? (void *)rest : block);
    end = (long *)(void *)(last - 7);
    if (me != shmem_n_pes() - 1)
        shmem_barrier_all();
    if (!strcmp(word, "fits")) {
        shmem_putmem(last, b, 1, other);
        shmem_long_p(end, 1, other);
        shmem_putmem(stack, b, 0, other);
        shmem_getmem(b, stack, 0, other);
        shmem_long_get(b, NULL, 0, other);
        shmem_long_wait_until_all(stack, 0, NULL, SHMEM_CMP_EQ, 1);
        if (me == shmem_n_pes() - 1)
            shmem_barrier_all();
        shmem_finalize();
        free(heap);
        return 0;
    }
    CASE(static_data) {
        shmem_long_p(rest, 1, other);
        if (me == shmem_n_pes() - 1)
            shmem_barrier_all();
        shmem_finalize();
        free(heap);
        return 0;
    }
    CASE(put_stack) shmem_putmem(stack, b, 8, other);
    CASE(get_stack) shmem_getmem(b, stack, 8, other);
    CASE(put_malloc) shmem_long_put(heap, b, 8, other);
    CASE(put_constant) shmem_long_put((long *)(uintptr_t)fixed, b, 1, other);
    CASE(put_thread) shmem_long_p(&threads, 1, other);
    CASE(put_library) shmem_putmem((void *)stderr, b, 8, other);
    CASE(p_stack) shmem_long_p(stack, 1, other);
    CASE(g_stack) shmem_long_g(stack, other);
    CASE(iput_stack) shmem_long_iput(stack, b, 1, 1, 2, other);
    CASE(iget_stack) shmem_long_iget(b, stack, 1, 1, 2, other);
    CASE(signal_stack) shmem_putmem_signal(a, b, 8, (uint64_t *)stack, 1,
                                           SHMEM_SIGNAL_SET, other);
    CASE(signal_fetch) shmem_signal_fetch((uint64_t *)stack);
    CASE(signal_wait) shmem_signal_wait_until((uint64_t *)stack, SHMEM_CMP_EQ, 1);
    CASE(fadd_stack) shmem_long_atomic_fetch_add(stack, 1, other);
    CASE(fetch_malloc) shmem_long_atomic_fetch(heap, other);
    CASE(wait_stack) shmem_long_wait_until(stack, SHMEM_CMP_EQ, 1);
    CASE(test_stack) shmem_long_test(stack, SHMEM_CMP_EQ, 1);
    CASE(wait_some) shmem_long_wait_until_some(stack, 2, (size_t[2]){ 0 }, NULL,
                                               SHMEM_CMP_EQ, 1);
    CASE(lock_stack) shmem_set_lock(stack);
    CASE(unlock_stack) shmem_clear_lock(stack);
    CASE(lock_test_stack) shmem_test_lock(stack);
    CASE(past_heap) shmem_putmem(last, b, 2, other);
    CASE(past_heap_get) shmem_getmem(b, last, 8, other);
    CASE(past_heap_p) shmem_long_p(end + 1, 1, other);
    CASE(past_heap_iput) shmem_long_iput(end, b, 1, 1, 2, other);
    CASE(past_data) shmem_putmem(last, b, 2, other);
    CASE(past_data_add) shmem_int_atomic_add((int *)(void *)(last + 1), 1, other);
    CASE(past_heap_wait) shmem_long_wait_until_any(end, 2, NULL, SHMEM_CMP_NE, 0);
    printf("went on\n");
    return 0;
}
C
# no ARGUMENT [WHAT]: what its address is instead.
no()
{
    set -- "$1" "${2:-on the stack of this thread}"
    echo "$1 0x[0-9a-f]+ is not a symmetric address: it is $2; memory of shmem_malloc and shmem_space_malloc and static data of the main program are symmetric \\[S-E-ADDR\\]"
}
# past BYTES ARGUMENT
past() { echo "$1 bytes at $2 0x[0-9a-f]+ run past the end of the symmetric segment \\[S-E-ADDR\\]"; }

refused put_stack "shmem_putmem: $(no dest)"
alone get_stack "shmem_getmem: $(no source)"
alone put_malloc "shmem_long_put: $(no dest "private memory, such as malloc's")"
alone put_constant "shmem_long_put: $(no dest 'data of bad')"
alone put_thread "shmem_long_p: $(no dest "private memory, such as malloc's")"
alone put_library "shmem_putmem: $(no dest 'data of libc[.a-z0-9-]+')"
alone p_stack "shmem_long_p: $(no dest)"
alone g_stack "shmem_long_g: $(no source)"
alone iput_stack "shmem_long_iput: $(no dest)"
alone iget_stack "shmem_long_iget: $(no source)"
alone signal_stack "shmem_putmem_signal: $(no sig_addr)"
alone signal_fetch "shmem_signal_fetch: $(no sig_addr)"
alone signal_wait "shmem_signal_wait_until: $(no sig_addr)"
alone fadd_stack "shmem_long_atomic_fetch_add: $(no dest)"
alone fetch_malloc "shmem_long_atomic_fetch: $(no source "private memory, such as malloc's")"
refused wait_stack "shmem_long_wait_until: $(no ivar)"
alone test_stack "shmem_long_test: $(no ivar)"
alone wait_some "shmem_long_wait_until_some: $(no ivars)"
alone lock_stack "shmem_set_lock: $(no lock)"
alone unlock_stack "shmem_clear_lock: $(no lock)"
alone lock_test_stack "shmem_test_lock: $(no lock)"
refused past_heap "shmem_putmem: $(past 2 dest)"
alone past_heap_get "shmem_getmem: $(past 8 source)"
alone past_heap_p "shmem_long_p: $(no dest '[0-9]+ bytes behind the end of the symmetric heap')"
alone past_heap_iput "shmem_long_iput: $(past 16 dest)"
refused past_data "shmem_putmem: $(past 2 dest)"
alone past_data_add "shmem_int_atomic_add: $(no dest '.*')"
alone past_heap_wait "shmem_long_wait_until_any: $(past 16 ivars)"
works fits
# The same address with and without the variable that makes it symmetric.
works static_data
SHMEM_STATIC_DATA=0
export SHMEM_STATIC_DATA
refused static_data "shmem_long_p: dest 0x[0-9a-f]+ is static data of the main program, which is private with SHMEM_STATIC_DATA=0 \\[S-E-ADDR\\]"
alone put_stack "shmem_putmem: $(no dest)"
alone put_library "shmem_putmem: $(no dest 'data of libc[.a-z0-9-]+')"
alone put_constant "shmem_long_put: $(no dest 'data of bad')"
unset SHMEM_STATIC_DATA
finish 'addresses that are not symmetric'
