/* SPDX-License-Identifier: BSD-3-Clause */
/* dev_nic.h - device memory as a NIC has it, where the device sees what a NIC
 * stores after a flush only.  For dev_mem.c, and the queues. */
#ifndef FAKE_DEV_NIC_H
#define FAKE_DEV_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dev_nic;

/* Bytes of a file behind the memory, for what follows. */
enum { DEV_NIC_ROOM = 4096 };
/* size bytes at c, the memory of a file, which stays open, and that room behind
 * them in it.  owner: the memory is this process's own.  NULL: not mapped. */
struct dev_nic *dev_nic_new(int fd, char *c, size_t size, bool owner);
void dev_nic_release(struct dev_nic *n);
/* From now on there is a NIC: a descriptor of what it sees, whose position is
 * `at`. */
int dev_nic_export(struct dev_nic *n, uint64_t at, int *fd);
/* That memory is gone: it is zero, and so it is for NICs. */
void dev_nic_forget(struct dev_nic *n, size_t off, size_t len);
/* Another descriptor of the file, with a position of its own. */
int dev_nic_reopen(int fd, uint64_t at, int *out);

/* On the thread of a queue, between begin() and end(): a command may have
 * stored there.  end() shows it to the NIC. */
void dev_nic_note(struct dev_nic *n, size_t off, size_t len);
void dev_nic_note_all(void);
void dev_nic_begin(void);
void dev_nic_end(void);

#endif
