/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of examples/, which come with the program: tests/examples/standin.h
 * fills the table; the stand-in finds it by its name. */
#include "dev.h"

#define EXPORT __attribute__((visibility("default")))

/* The last one has no name. */
EXPORT extern struct dev_kernel dev_kernels[9];
EXPORT struct dev_kernel *example_kernels(void);
struct dev_kernel dev_kernels[9];

/* A program that named the table itself would have a copy. */
struct dev_kernel *example_kernels(void)
{
    return dev_kernels;
}
