/* SPDX-License-Identifier: BSD-3-Clause */
/* symbol.h - what an address of code is called: function, file, offset.
 * Threads: any. */
#ifndef BASE_SYMBOL_H
#define BASE_SYMBOL_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before the first use of what follows, which loads libraries then. */
void symbol_prepare(void);

/* "main (prog+0x11f)" for a return address: the name of the function comes from
 * the file's symbol table, C++ names are demangled if there is libstdc++ and
 * the call may allocate; the offset, within the call's instruction, is for
 * addr2line(1).  Maps the file meanwhile. */
void symbol_describe(const void *at, char *text, size_t size,
                     bool may_allocate);
/* Does it lie in malloc or its like?  Their lock may be held there. */
bool symbol_is_allocator(const void *at);

/* The addresses of this library's code; all addresses if it is a part of the
 * program, so that there is no caller outside. */
struct symbol_range {
    uintptr_t from, to;
};
void symbol_own_range(struct symbol_range *out);

/* The return addresses of the callers, this call's own first: how many there
 * are. */
int symbol_frames(void **at, int most);
/* The first of the callers of this call that lies outside of that range, or
 * NULL. */
const void *symbol_caller(const struct symbol_range *own);

/* The name under which users know a call: without the p of its second entry
 * point.  Other texts stay. */
const char *symbol_public(const char *call);

#endif
