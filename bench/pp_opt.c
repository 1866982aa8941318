/* SPDX-License-Identifier: BSD-3-Clause */
/* pp_opt.c - the options of pp_pack. */
#include "pp_pack.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define LEAST ((size_t)4)
#define MOST (1024 * MIB)

const char *const pp_mode_names[PP_MODES] = {
    "host", "put-signal", "send", "ready-send", "eager", "part", "ki", "kt",
    "raw"
};
/* Old names of the first ones, which stay. */
static const char *const old_names[] = { "hd", "pss", "st", "rst" };
enum { OLD_NAMES = sizeof old_names / sizeof *old_names };

int pp_iters(const struct pp_opts *o, size_t bytes)
{
    if (o->iters)
        return o->iters;
    return bytes < 4 * MIB ? 2000 : bytes <= 64 * MIB ? 200 : 20;
}

void pp_help(void)
{
    puts("Usage: oshrun -n 2 pp_pack [options]\n"
         "Round trips of messages that kernels pack, between two PEs: PE 0 "
         "packs and sends,\n"
         "PE 1 adds 1 to each element and sends it back, PE 0 checks.\n"
         "  -m, --mode LIST      of host, put-signal, send, ready-send, eager, "
         "part, ki, kt, raw\n"
         "                       (all that there are here)\n"
         "        host        the host drives: kernel, stream sync, put with "
         "signal, wait\n"
         "        put-signal  all on the stream: kernel, put with signal, "
         "wait\n"
         "        send        the same by matched messages, each in its turn: "
         "SHMEM_ST_EAGER=0\n"
         "        ready-send  by ready sends, of which two take turns\n"
         "        eager       as send, of messages that SHMEM_ST_EAGER sends "
         "ahead\n"
         "        part        partitioned: the kernel that packs makes parts "
         "ready\n"
         "        ki          one kernel for all round trips, which puts with "
         "signal\n"
         "        kt          the same by a put that the host has posted, and "
         "the kernel\n"
         "                    triggers\n"
         "        raw         kernel, the device's own copy, store and wait; "
         "on one node\n"
         "  -s, --sizes LO[:HI]  bytes, 4 to 1g, powers of two times LO "
         "(4:16m);\n"
         "                       k, m and g are powers of 1024\n"
         "  -i, --iters N        timed round trips (2000; 200 from 4m, 20 "
         "above 64m)\n"
         "  -w, --warmup N       before each timed loop (100)\n"
         "  -t, --trials N       timed loops of each mode, taking turns "
         "(5)\n"
         "  -V, --verify N       round trips whose every element is checked, "
         "before; 0: none (100)\n"
         "  -c, --charged        what SHMEM_DEVICE_COSTS has charged, and "
         "ratios of that\n"
         "  -j, --json           one JSON object instead of the table\n"
         "      --spoil N        the N-th answer is wrong: to test the check\n"
         "  -h, --help           this text\n"
         "Columns: RTT is the median of the trials, +-95% half of the interval "
         "of their\n"
         "mean; /host, /raw and /send divide it by that of these modes, within "
         "each trial;\n"
         "launches, armed (operations, for another thread or the NIC) and "
         "by_host (acts of\n"
         "the host) are of one message.");
}

static bool size(const char *text, size_t len, size_t *out)
{
    char digits[24], *end;
    unsigned long long n;
    int shift = 0;

    if (len == 0 || len >= sizeof digits)
        return false;
    memcpy(digits, text, len);
    digits[len] = '\0';
    switch (digits[len - 1] | 0x20) {
    case 'k': shift = 10; break;
    case 'm': shift = 20; break;
    case 'g': shift = 30; break;
    default: break;
    }
    if (shift)
        digits[len - 1] = '\0';
    if (digits[0] < '0' || digits[0] > '9')
        return false;
    errno = 0;
    n = strtoull(digits, &end, 10);
    if (*end || errno || n > MOST >> shift)
        return false;
    *out = (size_t)n << shift;
    return *out >= LEAST && *out % LEAST == 0;
}

static const char *sizes(const char *text, struct pp_opts *o)
{
    const char *colon = strchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : strlen(text);

    if (!size(text, len, &o->min) ||
        (colon && !size(colon + 1, strlen(colon + 1), &o->max)))
        return "say LO or LO:HI, multiples of 4 from 4 to 1g";
    if (!colon)
        o->max = o->min;
    return o->min > o->max ? "LO is above HI" : NULL;
}

/* The mode of that name, or PP_MODES. */
static int named(const char *text, size_t len)
{
    for (int m = 0; m < PP_MODES; m++)
        if (strlen(pp_mode_names[m]) == len &&
            memcmp(pp_mode_names[m], text, len) == 0)
            return m;
    for (int m = 0; m < OLD_NAMES; m++)
        if (strlen(old_names[m]) == len &&
            memcmp(old_names[m], text, len) == 0)
            return m;
    return PP_MODES;
}

static const char *modes(const char *text, struct pp_opts *o)
{
    memset(o->mode, 0, sizeof o->mode);
    o->chosen = true;
    while (*text) {
        size_t len = strcspn(text, ",");
        int m = named(text, len);

        if (m == PP_MODES)
            break;
        o->mode[m] = true;
        text += len;
        if (!*text)
            return NULL;
        text++;
    }
    return "say some of host, put-signal, send, ready-send, eager, part, ki, "
           "kt, raw, with commas";
}

static const char *number(const char *text, int least, int most, int *out)
{
    static char want[64];
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 10);
    if (end != text && !*end && !errno && n >= least && n <= most) {
        *out = (int)n;
        return NULL;
    }
    snprintf(want, sizeof want, "say a number from %d to %d", least, most);
    return want;
}

static const char *option(int c, struct pp_opts *o)
{
    switch (c) {
    case 'm': return modes(optarg, o);
    case 's': return sizes(optarg, o);
    case 'i': return number(optarg, 1, 10000000, &o->iters);
    case 'w': return number(optarg, 0, 10000000, &o->warmup);
    case 't': return number(optarg, 1, PP_TRIALS, &o->trials);
    case 'V': return number(optarg, 0, 10000000, &o->verify);
    case 'S': return number(optarg, 1, 10000000, &o->spoil);
    case 'c': o->charged = true; return NULL;
    case 'j': o->json = true; return NULL;
    default:  o->help = true; return NULL;
    }
}

bool pp_options(int argc, char **argv, struct pp_opts *out, char error[160])
{
    static const struct option names[] = {
        { "mode", required_argument, NULL, 'm' },
        { "sizes", required_argument, NULL, 's' },
        { "iters", required_argument, NULL, 'i' },
        { "warmup", required_argument, NULL, 'w' },
        { "trials", required_argument, NULL, 't' },
        { "verify", required_argument, NULL, 'V' },
        { "spoil", required_argument, NULL, 'S' },
        { "charged", no_argument, NULL, 'c' },
        { "json", no_argument, NULL, 'j' }, { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 }
    };
    struct pp_opts o = {
        .mode = { true, true, true, true, true, true, true, true, true }, .min = LEAST,
        .max = 16 * MIB, .warmup = 100, .trials = 5, .verify = 100
    };
    const char *wanted;
    int c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, ":m:s:i:w:t:V:cjh", names,
                            NULL)) != -1) {
        if (c == ':' || c == '?') {
            snprintf(error, 160, "option %.60s: %s; try --help",
                     argv[optind - 1], c == ':' ? "its value is missing"
                                                : "unknown, or has no value");
            return false;
        }
        wanted = option(c, &o);
        if (wanted) {
            snprintf(error, 160, "%s %.60s: %s; try --help",
                     c == 'm' ? "--mode" : c == 's' ? "--sizes"
                     : c == 'i' ? "--iters" : c == 'w' ? "--warmup"
                     : c == 't' ? "--trials" : c == 'V' ? "--verify"
                     : "--spoil", optarg, wanted);
            return false;
        }
    }
    if (optind < argc) {
        snprintf(error, 160, "argument %.60s: not expected; try --help",
                 argv[optind]);
        return false;
    }
    *out = o;
    return true;
}
