/* SPDX-License-Identifier: BSD-3-Clause */
/* io.h - files of keys.
 * A file is read and written in parts, by all PEs at once.  An output appears
 * under its name only when it is whole: until then it has a temporary name
 * beside it, which is removed on errors and on signals that end the program.
 * Errors are remembered in the job. */
#ifndef BUCKETSORT_IO_H
#define BUCKETSORT_IO_H

#include "bucketsort.h"

struct io_out {
    char *path, *temp;          /* the name it gets, the name it has */
    int fd;
    bool made;                  /* the file exists under its temporary name */
    unsigned mode;              /* permissions it shall get */
};

/* Collective: opens a file of keys on all PEs; false: an error, printed. */
bool io_open(struct job *job, const char *path, int *fd, uint64_t *count);
/* Reads n keys from number `first` on into memory form. */
bool io_read(struct job *job, int fd, const char *path, uint64_t first,
             size_t n, void *keys);
/* Collective: makes the temporary file with room for all keys.  input is the
 * descriptor of a file that it may not be, or -1. */
bool io_out_open(struct job *job, const char *path, int input, uint64_t count,
                 struct io_out *out);
bool io_out_write(struct job *job, struct io_out *out, uint64_t first,
                  size_t n, const void *keys);
/* Collective: gives it its name if no PE has an error; false: printed.  Ends
 * the use of out in either case. */
bool io_out_commit(struct job *job, struct io_out *out);
/* Removes what was made. */
void io_out_discard(struct io_out *out);

/* Can the report of --json get this name?  It is to be no file of keys. */
void io_report_check(struct job *job, const char *path);
/* Writes it, under its name only when it is whole. */
void io_report_write(struct job *job, const char *path, const char *text,
                     size_t n);

#endif
