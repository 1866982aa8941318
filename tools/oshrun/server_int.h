/* SPDX-License-Identifier: BSD-3-Clause */
/* server_int.h - what the two halves of the server share: server.c starts it,
 * server_calls.c is called by libpmix. */
#ifndef OSHRUN_SERVER_INT_H
#define OSHRUN_SERVER_INT_H

#include "server.h"

#include <pmix_server.h>
#include <pmix_version.h>
#include <pthread.h>

struct client {
    bool connected;                 /* PMIx_Init was called ... */
    bool finalized;                 /* ... and PMIx_Finalize after it */
    bool gone;                      /* the process has ended */
    pmix_op_cbfunc_t finalize_done; /* answers the PMIx_Finalize, or NULL */
    void *finalize_arg;
};

struct server {
    char nspace[PMIX_MAX_NSLEN + 1];
    int n;
    int fd;                         /* the eventfd of the queue */
    pthread_mutex_t lock;           /* all below */
    struct client *client;
    struct server_event *queue;
    size_t head, tail, cap;
};

extern struct server srv;
extern pmix_server_module_t server_calls;

#endif
