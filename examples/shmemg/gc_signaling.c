/* SPDX-License-Identifier: BSD-3-Clause */
/* gc_signaling - the kernel of PE 0 sends 256 bytes and raises a signal behind
 * them in one call; the kernel of PE 1 looks at the signal until it is there, and
 * then reads the bytes.  With one PE it sends to itself. */
#include "gpu.h"

enum { BYTES = 256 };

struct message {
    unsigned char *dest, *source, *seen;        /* in the device heap */
    uint64_t *signal;
    int from, to;
};

KERNEL(send_or_receive, struct message)
{
    int k;

    (void)i;
    if (shmemg_my_pe() == arg->from)
        shmemg_putmem_signal(arg->dest, arg->source, BYTES, arg->signal, 1,
                             SHMEM_SIGNAL_SET, arg->to);
    if (shmemg_my_pe() != arg->to)
        return;
    while (shmemg_signal_fetch(arg->signal) != 1)
        ;
    for (k = 0; k < BYTES; k++)
        arg->seen[k] = arg->dest[k];
}

int main(void)
{
    unsigned char bytes[BYTES];
    struct message m;
    char *memory;
    int k, wrong = 0;

    start(SHMEM_DEVICE_KERNEL_INIT);
    memory = (char *)symmetric(3 * BYTES + sizeof *m.signal);
    m.dest = (unsigned char *)memory;
    m.source = m.dest + BYTES;
    m.seen = m.source + BYTES;
    m.signal = (uint64_t *)(m.seen + BYTES);
    m.from = 0;
    m.to = right_of(0, shmem_n_pes());
    for (k = 0; k < BYTES; k++)
        bytes[k] = (unsigned char)(7 * k + shmem_my_pe());
    to_device(m.source, bytes, BYTES);
    shmem_barrier_all();
    RUN(send_or_receive, &m);
    if (shmem_my_pe() == m.to) {
        to_host(bytes, m.seen, BYTES);
        for (k = 0; k < BYTES; k++)
            wrong |= bytes[k] != (unsigned char)(7 * k);
    }
    shmem_barrier_all();
    shmemg_free(memory);
    return finish("gc_signaling", wrong);
}
