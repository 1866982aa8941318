/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h - what main() of each program with halos does. */
#ifndef HALO_PROGRAM_H
#define HALO_PROGRAM_H

#include "options.h"

struct program {
    const char *name;
    struct common *o;
    struct device *device;
    const struct kernel *kernels;
    int count;                  /* of kernels */
    const char *text;           /* of kernels, by KERNEL_TEXT */
    const struct persistent *calling;
    /* Reads o and the program's own: 0, or main's status as options_read(). */
    int (*options)(int argc, char **argv);
    void (*work)(void);         /* the device is open, and stays so */
};

/* main's status. */
int program_run(const struct program *p, int argc, char **argv);

#endif
