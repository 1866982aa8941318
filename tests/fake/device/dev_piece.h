/* SPDX-License-Identifier: BSD-3-Clause */
/* dev_piece.h - pieces of memory and the files that they are in, for dev_span.c
 * and dev_piece.c.  All under dev_mem_lock.
 *
 * A reservation has a file, as long as it is and all holes, in which a piece
 * gets its place where it is mapped first: so a range of several mappings is
 * one part of one file, and a NIC gets it as that.  A piece that is exported
 * before, or comes to where the file has another one, has a file of its own:
 * then a NIC gets its mapping alone. */
#ifndef FAKE_DEV_PIECE_H
#define FAKE_DEV_PIECE_H

#include "dev_mem.h"

struct entry;
struct file {
    struct file *next;
    int fd, users;              /* users: reservations, pieces */
    size_t size;
    uint64_t inode;
    char *c;                    /* all of it */
    struct dev_nic *nic;        /* NULL: stores of NICs need no flush */
    struct entry *table;        /* what is exported */
};

struct piece {
    struct piece *next;
    uint64_t handle;            /* 0: released */
    int mappings;
    struct dev_kind kind;
    size_t size;
    bool borrowed;
    struct file *file;          /* NULL: not mapped and not exported yet */
    uint64_t offset;
    int entry;                  /* -1: not exported */
};

/* Whole units? */
bool dev_fits(uintptr_t p, size_t size);
/* Without users.  NULL: no memory. */
struct file *dev_file_new(size_t size);
/* One user less. */
void dev_file_release(struct file *f);
struct piece *dev_piece_of(uint64_t handle);
/* Ends it, if it is released and mapped nowhere. */
void dev_piece_unref(struct piece *p);
/* Gives it a file of its own, or the part at offset of this one if no other
 * piece has that. */
int dev_piece_place(struct piece *p, struct file *f, uint64_t offset);

#endif
