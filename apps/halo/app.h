/* SPDX-License-Identifier: BSD-3-Clause */
/* app.h - what the programs have in common beside the halo: their ends,
 * memory, numbers of all PEs. */
#ifndef HALO_APP_H
#define HALO_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of this PE; set by app_begin(), which starts the library. */
extern struct app {
    const char *name;           /* of the program */
    int me, pes;
    int node_pes;               /* of this PE's node */
    int cores;                  /* for this PE alone */
} app;

void app_begin(const char *name);
/* Ends the job: one line, exit status 1. */
void app_die(const char *code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), noreturn));
/* Dies where rc is not 0: a call of the library failed that does this. */
void app_need(int rc, const char *what);
double app_now(void);           /* seconds */

/* Collective: zeroed symmetric memory; dies where there is none. */
void *app_device_room(size_t bytes);
void *app_host_room(size_t bytes);
/* Memory of this PE, which dies where there is none. */
void *app_memory(size_t count, size_t size);

/* Collective, of all PEs. */
double app_most(double mine);
uint64_t app_sum(uint64_t mine);

#endif
