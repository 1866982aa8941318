/* SPDX-License-Identifier: BSD-3-Clause */
/* info.h - the pages of shmem_info. */
#ifndef SHMEM_INFO_INFO_H
#define SHMEM_INFO_INFO_H

#include <stdarg.h>

/* The PE of a job that this process would be, 0 without one. */
int info_pe(void);
/* The library's properties and findings; 0. */
int info_report(void);
/* Tries the needs of start-up; 0, or 1 if a check failed. */
int info_check(void);
/* ---- network.c ---- */
/* Features of a Slingshot NIC; 0, 1 if a check failed, 3: there is none. */
int info_check_cxi(void);
/* ---- check.c ---- */
/* Before the first line, and after the last: 1 if one of them failed. */
void info_check_begin(void);
int info_check_end(void);
/* A line of --check. */
enum verdict { PASS, WARN, FAIL, NONE };
void say_args(enum verdict v, const char *what, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));
void say(enum verdict v, const char *what, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* ---- slingshot.c: NICs and the job's network, where there are any ---- */
void info_slingshot(void);
/* ---- device.c ---- */
/* pes: of this node, 0 where no launcher says. */
void info_check_device(int pes);
/* In a second process, the PE of that number on its node: opens the memory of
 * that handle; 0 if it is there. */
int info_import(const char *hex, const char *local, const char *fd);
/* The tables as mdoc list items, for the man pages. */
int info_env_mdoc(void);
int info_errors_mdoc(void);
int info_faults_mdoc(void);

#endif
