/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_sockets.h - a descriptor that has input whenever a TCP socket of the
 * provider has, or takes bytes again after it was full, for the progress thread
 * to sleep on.  The provider's own wait object costs two system calls for each
 * message (docs/decisions/078). */
#ifndef OFI_NET_OFI_SOCKETS_H
#define OFI_NET_OFI_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

/* Watches the sockets of an endpoint that listens at addr, as fi_getname()
 * gives it: the descriptor, or -1 where that socket is not found.  One thread,
 * like close. */
int ofi_sockets_open(const void *addr, size_t len);
void ofi_sockets_close(void);
bool ofi_sockets_watched(void);
/* Connections with that endpoint, of this PE or of a peer, belong to the
 * provider; nothing to do where no sockets are watched.  Any thread. */
void ofi_sockets_note(const void *addr, size_t len);
/* On the progress thread.  At the start of a turn that the descriptor caused,
 * before the provider is polled: room in sockets causes no further one. */
void ofi_sockets_drain(void);
/* Before a sleep, after the provider was polled: watches the connections that
 * have been made since, as far as descriptors were opened or some time has
 * passed, and those that have ended no more. */
void ofi_sockets_update(void);

#endif
