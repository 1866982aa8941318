/* SPDX-License-Identifier: BSD-3-Clause */
/* dl.h - binds a library that may be absent, by a table of its symbols.
 * dl_open() fills every slot or none; it is silent about an absent library,
 * since that is an ordinary answer, and logs a library that lacks a symbol.
 *
 * A program linked with -static loads nothing: the library would bring a second
 * C library, whose heap and environment are not the program's. */
#ifndef BASE_DL_H
#define BASE_DL_H

#include <stdbool.h>

/* Whether the program was linked with -static or -static-pie. */
bool dl_static(void);

struct dl_sym {
    const char *name;
    void *slot;                 /* address of the function pointer */
};

/* Tries each name of a NULL-ended list.  -ENOENT: none is installed;
 * -ENOSYS: one is, but a symbol is missing; -ENOTSUP: the program is static.
 * *out is for dl_close(). */
int dl_open(const char *const *names, const struct dl_sym *syms, int n_syms,
            void **out);
/* Fills the slots of the symbols that an open library has, the others with
 * NULL. */
void dl_load_optional(void *handle, const struct dl_sym *syms, int n_syms);
void dl_close(void *handle);
/* The file that holds a function, for a line. */
const char *dl_path(void (*fn)(void));

#endif
