/* SPDX-License-Identifier: BSD-3-Clause */
/* pp_pack.h - the parts of the ping-pong of packed messages: options, rows. */
#ifndef PP_PACK_H
#define PP_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* host: the host drives; put-signal: put with signal on the stream; send,
 * ready-send, eager: matched messages; part: partitioned ones, which the kernel
 * that packs makes ready; ki: one kernel, which puts; kt: the same, by puts that
 * the host has posted; raw: put with signal by the device's own copy, store and
 * wait. */
enum pp_mode { PP_HOST, PP_PUT_SIGNAL, PP_SEND, PP_READY_SEND, PP_EAGER,
               PP_PART, PP_KI, PP_KT, PP_RAW, PP_MODES };
extern const char *const pp_mode_names[PP_MODES];

enum { PP_TRIALS = 100 };       /* at most */

struct pp_opts {
    bool mode[PP_MODES];
    bool chosen;                /* by --mode */
    size_t min, max;            /* bytes, powers of two apart */
    int iters;                  /* 0: by the size */
    int warmup, trials, verify;
    int spoil;                  /* the number of a round, or 0 */
    bool charged, json, help;
};

/* True, or false with a line in error. */
bool pp_options(int argc, char **argv, struct pp_opts *out, char error[160]);
void pp_help(void);
/* Round trips of a message of so many bytes. */
int pp_iters(const struct pp_opts *o, size_t bytes);

/* What was measured of one size and one mode. */
struct pp_cell {
    double rtt[PP_TRIALS];      /* us */
    /* Of a round trip, or of a message, on both PEs together: */
    double charged_us;          /* by SHMEM_DEVICE_COSTS, in a round trip */
    double launches, armed, host_acts;      /* of a message */
};

/* What the rows begin with: "# ..." lines, or the fields of an object. */
struct pp_head {
    const char *version, *device, *driver, *between, *costs;
    double launch_us, sync_us, flag_us;     /* flag_us: 0 where unknown */
};
void pp_begin(const struct pp_opts *o, const struct pp_head *h);
/* cells[PP_MODES]; those of modes that are not run are not looked at. */
void pp_rows(const struct pp_opts *o, size_t bytes,
             const struct pp_cell *cells);
/* verified: so many round trips were. */
void pp_end(const struct pp_opts *o, unsigned long verified);

/* Half of the 95 % interval of the mean. */
double pp_interval(const double *values, int n);

#endif
