/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: over tcp, words that are put to a far PE take a message each
 * and one for the quiet that follows, which the target answers once.
 * PEs: 2
 * Ppn: 2/1 */
#define _GNU_SOURCE 1
#include "off_node.h"

#include <sys/socket.h>
#include <sys/syscall.h>

enum { WORDS = 512, SPARE = 8 };

/* ---- counts of what the provider sends: its calls come here ---- */

static atomic_ulong sent;

static ssize_t count(long rc)
{
    if (rc > 0)
        atomic_fetch_add_explicit(&sent, 1, memory_order_relaxed);
    return rc;
}

__attribute__((visibility("default")))
ssize_t send(int fd, const void *buf, size_t len, int flags)
{
    return count(syscall(SYS_sendto, fd, buf, len, flags, NULL, 0));
}

__attribute__((visibility("default")))
ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    return count(syscall(SYS_sendmsg, fd, msg, flags));
}

/* ---- */

static uint64_t words[WORDS], here[WORDS], done;
static int me;

/* Of PE 0, and of the other while it waits for PE 0 to end. */
static void run(void (*puts)(void), unsigned long most, unsigned long back)
{
    static uint64_t turn;
    unsigned long before;

    turn++;
    shmem_barrier_all();
    before = atomic_load(&sent);
    if (me == 0) {
        puts();
        T_LE(atomic_load(&sent) - before, most);
        shmem_uint64_atomic_inc(&done, 1);
    } else {
        shmem_uint64_wait_until(&done, SHMEM_CMP_GE, turn);
        T_LE(atomic_load(&sent) - before, back);
    }
    shmem_barrier_all();
}

static void put_all(void)
{
    for (int i = 0; i < WORDS; i++)
        shmem_uint64_p(&words[i], (uint64_t)i + 1, 1);
}

static void put_then_quiet(void)
{
    put_all();
    shmem_quiet();
}

static void put_each_quiet(void)
{
    for (int i = 0; i < WORDS; i++) {
        shmem_putmem(&words[i], &here[i], sizeof here[i], 1);
        shmem_quiet();
    }
}

static void add_then_quiet(void)
{
    for (int i = 0; i < WORDS; i++)
        shmem_uint64_atomic_add(&words[i], 1, 1);
    shmem_quiet();
}

T(words_without_a_quiet_are_not_answered)
{
    run(put_all, WORDS + SPARE, SPARE);
    T_EQ(me ? words[WORDS - 1] : WORDS, WORDS);
}

T(words_before_a_quiet_are_answered_once)
{
    run(put_then_quiet, WORDS + SPARE, SPARE);
    run(add_then_quiet, WORDS + SPARE, SPARE);
    T_EQ(me ? words[WORDS - 1] : WORDS + 1, WORDS + 1);
}

/* The word that is to be waited for brings the question. */
T(a_word_before_each_quiet_is_one_message)
{
    for (int i = 0; i < WORDS; i++)
        here[i] = (uint64_t)i + 7;
    run(put_each_quiet, WORDS + SPARE, WORDS + SPARE);
    T_EQ(me ? words[WORDS - 1] : WORDS + 6, WORDS + 6);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    T_PE(me);
    if (getenv("SHMEM_OFI_PROVIDER") &&
        !strstr(getenv("SHMEM_OFI_PROVIDER"), "tcp")) {
        printf("skip: messages of tcp are counted\n");
        shmem_finalize();
        return 77;
    }
    T_RUN(words_without_a_quiet_are_not_answered);
    T_RUN(words_before_a_quiet_are_answered_once);
    T_RUN(a_word_before_each_quiet_is_one_message);
    shmem_finalize();
    return T_DONE();
}
