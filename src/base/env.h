/* SPDX-License-Identifier: BSD-3-Clause */
/* env.h - the environment, parsed once by env_load() into `env`.
 * env_load() runs before anything else of the library, on one thread; the
 * table is read-only afterwards.  A bad value is logged with the allowed ones
 * and gives -EINVAL.  Nothing else in the library calls getenv().  A
 * variable that is empty counts as unset. */
#ifndef BASE_ENV_H
#define BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef bool env_any;
typedef bool env_flag;
typedef long env_int;
typedef size_t env_size;
typedef int env_word;           /* index of the word in the row's list */
typedef const char *env_text;
typedef const char *env_path;   /* absolute if that can be had */
typedef struct {
    bool on;
    const char *file;           /* that ends in .json; NULL: none */
} env_report;

struct env_table {
#define ENV(layer, NAME, kind, def, least, most, help) env_##kind NAME;
#include "base/env_defs.h"
#undef ENV
};
extern struct env_table env;
/* Words of SHMEM_DEVICE and SHMEM_DEFAULT_SPACE, */
enum { ENV_DEVICE_AUTO, ENV_DEVICE_CUDA, ENV_DEVICE_HIP,
       ENV_DEVICE_SOFTWARE, ENV_DEVICE_NONE, ENV_DEVICE_HOST };
enum { ENV_SPACE_CPU, ENV_SPACE_GPU };
/* And of SHMEM_DEVICE_GRAIN and SHMEM_HUGEPAGES. */
enum { ENV_GRAIN_AUTO, ENV_GRAIN_COARSE, ENV_GRAIN_FINE, ENV_GRAIN_UNCACHED };
enum { ENV_PAGES_OFF, ENV_PAGES_THP, ENV_PAGES_2M, ENV_PAGES_1G };

int env_load(void);
/* Was the variable set by the user (as SHMEM_ or SMA_)?  name lacks SHMEM_. */
bool env_is_set(const char *name);
/* The name of the i-th variable, without SHMEM_; NULL beyond the last one. */
const char *env_name(int i);
/* Is it one of the four that may also begin with SMA_? */
bool env_has_sma(const char *name, size_t len);
/* Warns of each variable that no row knows, and of those of other libraries. */
void env_warn_unknown(void);
/* Reports each through that function; returns how many there are. */
int env_report_unknown(void (*report)(const char *text));
/* Prints the table: name, value, source, help.  auto_size stands for the
 * size of the symmetric heap if no variable sets it; 0: it is not known yet. */
void env_print(FILE *to, size_t auto_size);
/* The same as a list of objects, "environment". */
struct json;
void env_write(struct json *to, size_t auto_size);
/* Prints the rows of the table as sections of mdoc, for shmem_env(7). */
void env_print_mdoc(FILE *to);
/* A variable of the system or of a launcher (SLURM_NTASKS, ...), or NULL. */
const char *env_foreign(const char *name);
/* Sets it for the libraries that read it later, unless it is set: true then.
 * Before other threads of the program run. */
bool env_foreign_default(const char *name, const char *value);
/* Sets it where it is a number below value: true then. */
bool env_foreign_raise(const char *name, const char *value);
/* Bytes of a size written in the grammar of SHMEM_SYMMETRIC_SIZE, or -EINVAL.
 * rest: may anything follow, as it may there by the standard? */
int env_parse_size(const char *text, bool rest, size_t *out);
/* strtod() with a decimal point in every locale. */
double env_parse_number(const char *text, char **end);

#endif
