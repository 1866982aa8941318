/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_int.h - what the drivers share. */
#ifndef GTL_GTL_INT_H
#define GTL_GTL_INT_H

#include "gtl/gtl.h"

extern hidden const struct gtl_ops gtl_host, gtl_cuda, gtl_hip;

/* Keeps "call: text (code)" for gtl_error(); returns rc. */
int gtl_fail(int rc, const char *call, const char *text, long code)
    __attribute__((cold));

/* ---- gtl_host.c: the software device ---- */
/* Its environment; logs a bad row. */
int gtl_host_load(void);

/* ---- gtl_own.c: streams of the library's own ---- */
int gtl_own_open(const struct gtl_ops *ops);
void gtl_own_close(void);

#endif
