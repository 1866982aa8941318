/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FI_CXI_... variables, which the provider reads once, when libfabric loads
 * it, and corrects where they do not fit each other; each correction has a
 * line.  The stand-in's own FAKE_CXI_... are read when they are needed.
 *
 * Rule 17.  An endpoint that receives pins its overflow buffers (match modes
 * hardware and hybrid) and its request buffers (software and hybrid), of whole
 * pages, when it is enabled; 9 of 12 MiB unless the variables say less.  Where
 * the endpoint has FI_HMEM, they are registered with the GPU, too.
 */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB             (1024 * 1024)
#define BUFFER          (12 * MIB)
#define HEADERS         64      /* of a packet, in a request buffer */
#define BATCH           32      /* events acknowledged at a time */
#define TARGET_OPS      1024    /* operations that receiving starts */
#define INTERNAL_OPS    16

struct cxi_tuning cxi_tuning;

static size_t size_of(const char *name, size_t otherwise)
{
    char full[64];

    snprintf(full, sizeof full, "FI_CXI_%s", name);
    return (size_t)cxi_env(full, (long)otherwise);
}

static void correct(const char *name, size_t *value, bool wrong, size_t to)
{
    if (!wrong || *value == to)
        return;
    fprintf(stderr, "fake cxi: FI_CXI_%s of %zu does not do: it becomes %zu\n",
            name, *value, to);
    *value = to;
}

static void read_buffers(struct cxi_tuning *t)
{
    size_t threshold = size_of("RDZV_THRESHOLD", 16384);
    size_t least = size_of("RDZV_GET_MIN", 2049), min_free;

    t->oflow_size = size_of("OFLOW_BUF_SIZE", BUFFER);
    correct("RDZV_THRESHOLD", &threshold, threshold < CXI_INJECT, CXI_INJECT);
    correct("RDZV_THRESHOLD", &threshold, threshold > t->oflow_size, 16384);
    correct("RDZV_GET_MIN", &least, least > t->oflow_size - threshold, 0);
    t->oflow_count = size_of("OFLOW_BUF_MIN_POSTED",
                             size_of("OFLOW_BUF_COUNT", 3));
    t->req_size = size_of("REQ_BUF_SIZE", BUFFER);
    t->req_count = size_of("REQ_BUF_MIN_POSTED", 6);
    if (t->software) {
        min_free = HEADERS + threshold + least;
        correct("REQ_BUF_SIZE", &t->req_size, t->req_size < min_free,
                min_free);
        correct("REQ_BUF_MIN_POSTED", &t->req_count, t->req_count < 2, 2);
    }
}

void cxi_tuning_read(void)
{
    const char *mode = getenv("FI_CXI_RX_MATCH_MODE");
    struct cxi_tuning *t = &cxi_tuning;

    t->hardware = !mode || strcmp(mode, "software");
    t->software = mode && (!strcmp(mode, "software") ||
                           !strcmp(mode, "hybrid"));
    t->gpu_buffers = !size_of("DISABLE_HOST_REGISTER", 0);
    read_buffers(t);
    t->tx_size = size_of("DEFAULT_TX_SIZE", CXI_TX_SIZE);
    correct("DEFAULT_TX_SIZE", &t->tx_size,
            t->tx_size < 16 || t->tx_size > CXI_TX_MAX, CXI_TX_SIZE);
    t->rx_size = size_of("DEFAULT_RX_SIZE", CXI_RX_SIZE);
    t->cq_size = size_of("DEFAULT_CQ_SIZE", 131072);
    t->fill = size_of("CQ_FILL_PERCENT", 50);
    correct("CQ_FILL_PERCENT", &t->fill, t->fill < 1 || t->fill > 100, 50);
}

static size_t pages(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (n + page - 1) / page * page;
}

/* What an endpoint pins by receiving. */
size_t cxi_tuning_buffers(void)
{
    const struct cxi_tuning *t = &cxi_tuning;

    return (t->software ? t->req_count * pages(t->req_size) : 0) +
           (t->hardware ? t->oflow_count * pages(t->oflow_size) : 0);
}

/* A credit may take two, and two more report a full queue and its state. */
size_t cxi_tuning_tx_events(size_t tx_size, size_t cq_size)
{
    size_t n = 2 * tx_size + TARGET_OPS + INTERNAL_OPS + BATCH + 2;

    return n > cq_size ? n : cq_size;
}
