/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Description: between two processes the stand-in for CXI delays, orders,
 * refuses and counts as that NIC does.  Run by cxi.sh.
 *
 * The target's memory is shared by both processes, so the initiator can look
 * at what has arrived; the target calls libfabric only at a command.
 */
#include "fabric.h"

enum { WORDS = 1024, BIG = 20 << 20, KEY = 7, EARLY = 9, TX = 64 };
enum { IDLE, COUNT, RECEIVE, READ, QUIT };

static struct {
    _Atomic uint64_t word[WORDS];
    _Atomic int command, answer;
    char name[2][NAME_MAX_BYTES];       /* of the target's two endpoints */
    char big[BIG];
    char message[16];
} *shared;

static struct node me;
static fi_addr_t peer, other;

/* ---- the target ---- */

static int execute(struct node *n, struct fid_cntr *remote, int command)
{
    struct fi_cq_msg_entry entry;

    switch (command) {
    case COUNT:
        return (int)fi_cntr_read(remote);
    case RECEIVE:
        return (int)fi_recv(n->ep, shared->message, sizeof shared->message,
                            NULL, FI_ADDR_UNSPEC, NULL);
    case READ:
        return (int)fi_cq_read(n->rxcq, &entry, 1);
    default:
        return 0;
    }
}

static int target(const struct want *want)
{
    struct node n = { 0 }, second;
    struct fi_cntr_attr attr = { 0 };
    struct fid_cntr *remote;
    struct fid_mr *early;
    size_t size = NAME_MAX_BYTES;
    int command;

    fabric_open(&n, want);
    second = n;
    fabric_endpoint(&n, want);
    fabric_endpoint(&second, want);
    if (fi_cntr_open(n.domain, &attr, &remote, NULL) ||
        fi_ep_bind(n.ep, &remote->fid, FI_REMOTE_WRITE | FI_REMOTE_READ))
        return 1;
    fabric_region(&n, shared, sizeof *shared, KEY);
    if (fi_mr_reg(n.domain, shared, 8, FI_REMOTE_WRITE, 0, EARLY, 0, &early,
                  NULL))
        return 1;
    fi_getname(&n.ep->fid, shared->name[0], &size);
    size = NAME_MAX_BYTES;
    fi_getname(&second.ep->fid, shared->name[1], &size);
    atomic_store(&shared->answer, 1);
    while ((command = atomic_load(&shared->command)) != QUIT) {
        if (command) {
            atomic_store(&shared->answer, execute(&n, remote, command));
            atomic_store(&shared->command, IDLE);
        }
        nanosleep(&(struct timespec){ 0, 100000 }, NULL);
    }
    return 0;
}

static int send_command(int command)
{
    unsigned turns = 0;

    atomic_store(&shared->command, command);
    while (atomic_load(&shared->command) != IDLE && fabric_patience(&turns))
        ;
    return atomic_load(&shared->answer);
}

/* ---- the initiator ---- */

static uint64_t at(int word)
{
    return (uint64_t)word * 8;
}

static ssize_t put(const void *buf, size_t len, uint64_t addr, uint64_t key,
                   uint64_t flags, void *context)
{
    struct iovec iov = { (void *)(uintptr_t)buf, len };
    struct fi_rma_iov rma = { addr, len, key };
    struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .addr = peer,
        .rma_iov = &rma, .rma_iov_count = 1, .context = context };

    return fi_writemsg(me.ep, &msg, flags);
}

static ssize_t amo(const void *buf, int word, enum fi_op op, size_t count,
                   void *result, uint64_t flags)
{
    struct fi_ioc ioc = { (void *)(uintptr_t)buf, count };
    struct fi_ioc back = { result, count };
    struct fi_rma_ioc rma = { at(word), count, KEY };
    struct fi_msg_atomic msg = { .msg_iov = &ioc, .iov_count = 1,
        .addr = peer, .rma_iov = &rma, .rma_iov_count = 1,
        .datatype = FI_UINT64, .op = op };

    return result ? fi_fetch_atomicmsg(me.ep, &msg, &back, NULL, 1, flags)
                  : fi_atomicmsg(me.ep, &msg, flags);
}

/* Waits for n completions without errors. */
static void finish(int n)
{
    int err;

    while (n-- > 0) {
        fabric_wait(me.txcq, &err);
        T_EQ(err, 0);
    }
}

static void put_word(uint64_t value, int word, uint64_t flags)
{
    T_EQ(put(&value, 8, at(word), KEY, flags | FI_INJECT, NULL), 0);
}

static bool arrives(int word, uint64_t value)
{
    unsigned turns = 0;

    while (atomic_load(&shared->word[word]) != value)
        if (!fabric_patience(&turns))
            return false;
    return true;
}

T(delivery_completion_means_visible)
{
    for (uint64_t i = 1; i <= 100; i++) {
        put_word(i, 0, FI_DELIVERY_COMPLETE);
        finish(1);
        T_EQ(atomic_load(&shared->word[0]), i);
    }
}

T(completion_alone_does_not_mean_visible)
{
    int invisible = 0;

    for (uint64_t i = 1; i <= 50; i++) {
        uint64_t source = i;

        T_EQ(put(&source, 8, at(1), KEY, 0, NULL), 0);
        finish(1);
        source = 0;             /* ours again */
        invisible += atomic_load(&shared->word[1]) != i;
        T_TRUE(arrives(1, i));
    }
    T_LT(0, invisible);
}

T(atomics_are_late_too)
{
    uint64_t one = 1;
    int invisible = 0;

    for (uint64_t i = 1; i <= 50; i++) {
        T_EQ(amo(&one, 2, FI_SUM, 1, NULL, 0), 0);
        finish(1);
        invisible += atomic_load(&shared->word[2]) != i;
        T_TRUE(arrives(2, i));
    }
    T_LT(0, invisible);
}

/* Writes i to word 3 at 1 to n; counts how often it is seen to step back. */
static int steps_back(int n)
{
    uint64_t seen = 0, now;
    int back = 0;
    unsigned turns = 0;

    atomic_store(&shared->word[3], 0);
    for (int i = 1; i <= n; i++)
        put_word((uint64_t)i, 3, 0);
    while (fi_cntr_readerr(me.writes) == 0 && turns < 400) {
        struct fi_cq_msg_entry entry[16];

        fi_cq_read(me.txcq, entry, 16);
        now = atomic_load(&shared->word[3]);
        back += now < seen;
        seen = now;
        turns++;
        nanosleep(&(struct timespec){ 0, 10000 }, NULL);
    }
    return back;
}

T(writes_keep_the_order_that_was_asked_for)
{
    for (int round = 0; round < 5; round++) {
        T_EQ(steps_back(TX / 2), 0);
        T_TRUE(arrives(3, TX / 2));
    }
}

T(writes_keep_no_order_that_was_not_asked_for)
{
    int back = 0;

    /* Who looks may have lost the processor for some of them. */
    for (int round = 0; round < 500 && !back; round++)
        back = steps_back(TX / 2);
    T_LT(0, back);
}

T(an_ordered_delivery_covers_what_was_before_it)
{
    for (uint64_t i = 1; i <= 20; i++) {
        for (int k = 0; k < 8; k++)
            put_word(i, 16 + k, 0);
        put_word(i, 30, FI_DELIVERY_COMPLETE);
        finish(9);
        for (int k = 0; k < 8; k++)
            T_EQ(atomic_load(&shared->word[16 + k]), i);
    }
}

T(a_read_passes_a_write)
{
    int passed = 0;

    for (uint64_t i = 1; i <= 50; i++) {
        uint64_t got = 0;

        put_word(i, 4, 0);
        T_EQ(fi_read(me.ep, &got, 8, NULL, peer, at(4), KEY, NULL), 0);
        finish(2);
        passed += got != i;
        T_TRUE(arrives(4, i));
    }
    T_LT(0, passed);
}

T(a_write_passes_a_read)
{
    int passed = 0;

    for (uint64_t i = 1; i <= 200; i++) {
        uint64_t got = 0;

        T_EQ(fi_read(me.ep, &got, 8, NULL, peer, at(5), KEY, NULL), 0);
        put_word(i, 5, FI_DELIVERY_COMPLETE);
        finish(2);
        passed += got == i;
    }
    T_LT(0, passed);
}

T(credits_come_back_when_the_queue_is_read)
{
    uint64_t value = 5;
    int n = 0;
    ssize_t rc;

    while (!(rc = put(&value, 8, at(6), KEY, FI_DELIVERY_COMPLETE, NULL)))
        if (++n > 10 * TX)
            break;
    T_EQ(rc, -FI_EAGAIN);
    T_EQ(n, TX);
    T_TRUE(arrives(6, 5));
    nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
    T_EQ(put(&value, 8, at(6), KEY, 0, NULL), -FI_EAGAIN);
    T_EQ(fi_inject_write(me.ep, &value, 8, peer, at(6), KEY), -FI_EAGAIN);
    finish(n);
    T_EQ(put(&value, 8, at(6), KEY, FI_DELIVERY_COMPLETE, NULL), 0);
    finish(1);
}

T(selected_completions_alone_are_seen_and_all_cost_credits)
{
    uint64_t value = 1, before = fi_cntr_read(me.writes);
    struct fi_cq_msg_entry entry;
    int n = 0;

    while (!put(&value, 8, at(6), KEY, FI_DELIVERY_COMPLETE, NULL) &&
           n <= 10 * TX)
        n++;
    T_EQ(n, TX);
    T_EQ(fi_cntr_wait(me.writes, before + TX, 5000), 0);
    T_EQ(fi_cq_read(me.txcq, &entry, 1), -FI_EAGAIN);
    T_EQ(put(&value, 8, at(6), KEY, FI_COMPLETION, &value), 0);
    T_TRUE(fabric_wait(me.txcq, &n) == &value);
    T_EQ(n, 0);
}

T(flags_and_lengths_that_it_refuses)
{
    char byte[256] = { 0 };
    struct iovec two[2] = { { byte, 1 }, { byte, 1 } };

    T_EQ(put(byte, 8, 0, KEY, FI_REMOTE_CQ_DATA, NULL), -FI_EBADFLAGS);
    T_EQ(put(byte, 8, 0, KEY, FI_TRIGGER, NULL), -FI_EBADFLAGS);
    T_EQ(put(byte, 8, 0, KEY, FI_FENCE, NULL), -FI_EINVAL);
    T_EQ(put(byte, 193, 0, KEY, FI_INJECT, NULL), -FI_EMSGSIZE);
    T_EQ(fi_inject_write(me.ep, byte, 193, peer, 0, KEY), -FI_EMSGSIZE);
    T_EQ(put(byte, 1ull << 32, 0, KEY, 0, NULL), -FI_EMSGSIZE);
    T_EQ(fi_writev(me.ep, two, NULL, 2, peer, 0, KEY, NULL), -FI_EINVAL);
    T_EQ(fi_readv(me.ep, two, NULL, 2, peer, 0, KEY, NULL), -FI_EINVAL);
    T_EQ(fi_writedata(me.ep, byte, 8, NULL, 1, peer, 0, KEY, NULL),
         -FI_ENOSYS);
}

T(atomics_that_it_refuses)
{
    uint64_t v[2] = { 1, 1 }, got[2];

    T_EQ(amo(v, 0, FI_SUM, 2, NULL, 0), -FI_EINVAL);
    T_EQ(amo(v, 0, FI_PROD, 1, NULL, 0), -FI_EOPNOTSUPP);
    T_EQ(amo(v, 0, FI_PROD, 1, got, 0), -FI_EOPNOTSUPP);
    T_EQ(amo(v, 0, FI_ATOMIC_READ, 1, NULL, 0), -FI_EOPNOTSUPP);
    T_EQ(amo(v, 0, FI_SUM, 1, got, FI_DELIVERY_COMPLETE), -FI_EINVAL);
    T_EQ(amo(v, 0, FI_SUM, 1, got, FI_INJECT), -FI_EBADFLAGS);
}

T(atomics_that_it_does)
{
    uint64_t v = 5, got = 0, cmp = 5;
    uint64_t reads = fi_cntr_read(me.reads);

    atomic_store(&shared->word[8], 0);
    T_EQ(amo(&v, 8, FI_SUM, 1, NULL, FI_DELIVERY_COMPLETE), 0);
    finish(1);
    T_EQ(atomic_load(&shared->word[8]), 5);
    v = 6;
    T_EQ(fi_compare_atomic(me.ep, &v, 1, NULL, &cmp, NULL, &got, NULL, peer,
                           at(8), KEY, FI_UINT64, FI_CSWAP, NULL), 0);
    finish(1);
    T_EQ(got, 5);
    T_EQ(amo(&v, 8, FI_ATOMIC_WRITE, 1, &got, 0), 0);
    finish(1);
    T_EQ(got, 6);
    T_EQ(amo(NULL, 8, FI_ATOMIC_READ, 1, &got, 0), 0);
    finish(1);
    T_EQ(got, 6);
    T_EQ(fi_cntr_read(me.reads), reads + 3);
}

/* A write that must fail at the target. */
static void refused(uint64_t addr, uint64_t key, size_t len, uint64_t flags)
{
    uint64_t value[2] = { 1, 2 }, errors = fi_cntr_readerr(me.writes);
    int err;

    T_EQ(put(value, len, addr, key, flags, value), 0);
    T_TRUE(fabric_wait(me.txcq, &err) == value);
    T_EQ(err, FI_EIO);
    T_EQ(fi_cntr_readerr(me.writes), errors + 1);
}

T(what_the_target_refuses_ends_in_an_error_with_its_context)
{
    for (int dc = 0; dc < 2; dc++) {
        uint64_t flags = dc ? FI_DELIVERY_COMPLETE : 0;

        refused(0, 12345, 8, flags);
        refused(sizeof *shared, KEY, 8, flags);
        refused(sizeof *shared - 8, KEY, 16, flags);
    }
}

T(a_region_answers_at_its_own_endpoint_only)
{
    fi_addr_t mine = peer;

    peer = other;
    refused(0, KEY, 8, FI_DELIVERY_COMPLETE);
    peer = mine;
}

T(a_key_that_is_not_enabled_is_a_broken_rule)
{
    refused(0, EARLY, 8, 0);    /* cxi.sh looks for the line */
}

T(counters_of_remote_events_do_not_count)
{
    put_word(1, 9, FI_DELIVERY_COMPLETE);
    finish(1);
    T_EQ(send_command(COUNT), 0);
}

T(a_message_waits_for_the_receivers_queue)
{
    T_EQ(send_command(RECEIVE), 0);
    T_EQ(fi_send(me.ep, "hello", 6, NULL, peer, NULL), 0);
    finish(1);
    nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
    T_STR(shared->message, "");
    for (unsigned turns = 0; send_command(READ) != 1 &&
                              fabric_patience(&turns); )
        ;
    T_STR(shared->message, "hello");
}

T(a_fence_waits_for_completions)
{
    for (uint64_t i = 1; i <= 50; i++) {
        uint64_t got = i;

        T_EQ(fi_read(me.ep, &got, 8, NULL, peer, at(5), KEY, NULL), 0);
        put_word(i, 5, FI_DELIVERY_COMPLETE | FI_FENCE);
        finish(2);
        T_NE(got, i);
    }
}

T(a_long_write_arrives_whole)
{
    char *source = malloc(BIG);

    for (int i = 0; i < BIG; i++)
        source[i] = (char)(i * 2654435761u >> 24);
    T_EQ(put(source, BIG, (uint64_t)((char *)shared->big - (char *)shared),
             KEY, FI_DELIVERY_COMPLETE, NULL), 0);
    finish(1);
    T_MEM(shared->big, source, BIG);
    free(source);
}

/* ---- one pair of processes per set of tests ---- */

static void pair(const struct want *want, void (*tests)(void))
{
    unsigned turns = 0;
    int status = 1;
    pid_t pid;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || (pid = fork()) < 0)
        exit(1);
    if (pid == 0)
        _exit(target(want));
    fabric_open(&me, want);
    fabric_endpoint(&me, want);
    while (!atomic_load(&shared->answer) && fabric_patience(&turns))
        ;
    peer = fabric_peer(&me, shared->name[0]);
    other = fabric_peer(&me, shared->name[1]);
    tests();
    fabric_close(&me);
    atomic_store(&shared->command, QUIT);
    waitpid(pid, &status, 0);
    T_EQ(status, 0);
    munmap(shared, sizeof *shared);
}

static void ordered(void)
{
    T_RUN(delivery_completion_means_visible);
    T_RUN(completion_alone_does_not_mean_visible);
    T_RUN(atomics_are_late_too);
    T_RUN(writes_keep_the_order_that_was_asked_for);
    T_RUN(an_ordered_delivery_covers_what_was_before_it);
    T_RUN(a_read_passes_a_write);
    T_RUN(a_write_passes_a_read);
    T_RUN(credits_come_back_when_the_queue_is_read);
    T_RUN(flags_and_lengths_that_it_refuses);
    T_RUN(atomics_that_it_refuses);
    T_RUN(atomics_that_it_does);
    T_RUN(what_the_target_refuses_ends_in_an_error_with_its_context);
    T_RUN(a_region_answers_at_its_own_endpoint_only);
    T_RUN(a_key_that_is_not_enabled_is_a_broken_rule);
    T_RUN(counters_of_remote_events_do_not_count);
    T_RUN(a_message_waits_for_the_receivers_queue);
    T_RUN(a_long_write_arrives_whole);
}

static void unordered(void)
{
    T_RUN(writes_keep_no_order_that_was_not_asked_for);
    T_RUN(a_fence_waits_for_completions);
}

static void selective(void)
{
    T_RUN(selected_completions_alone_are_seen_and_all_cost_credits);
}

int main(void)
{
    pair(&(struct want){ .order = FI_ORDER_WAW, .tx_size = TX }, ordered);
    pair(&(struct want){ .caps = FI_RMA | FI_FENCE | FI_MSG, .tx_size = TX },
         unordered);
    pair(&(struct want){ .tx_size = TX, .selective = true }, selective);
    return T_DONE();
}
