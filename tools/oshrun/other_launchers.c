/* SPDX-License-Identifier: BSD-3-Clause */
/* other_launchers.c - what to write here for an option of mpirun, mpiexec, srun
 * or aprun that oshrun does not have.  opts.c calls it for an option that it
 * does not know; nothing else. */
#include "oshrun.h"

#include <stddef.h>
#include <string.h>

static const struct hint {
    const char *names;              /* each between spaces */
    const char *text;
} hints[] = {
    { " --map-by -map-by --rank-by -rank-by --cyclic --block -m --distribution"
      " --distribution-method -N -npernode --npernode --ntasks-per-node"
      " -perhost --perhost -S ",
      "--ppn sets the PEs of a node, and PE numbers follow the hosts" },
    { " --cpu-bind --cpu_bind --cpu-set --cpu-list -cc -bind-to-core"
      " --bind-to-core --bind-to-socket --bind-to-none -binding ",
      "--bind-to core, socket, numa or none binds PEs" },
    { " --cpus-per-task --cpus-per-proc -cpus-per-proc --cpus-per-rank -d"
      " --depth ",
      "each PE gets an equal share of the cores without an option" },
    { " --ntasks --tasks ", "-n sets the number of PEs" },
    { " --nodes --nodelist -w -L --node-list --nodefile ",
      "-H or --hostfile names the hosts" },
    { " -env -genv -e --export -envlist -genvlist ",
      "-x NAME=VALUE sets a variable of the PEs" },
    { " -envall -genvall -envnone -genvnone --exportall ",
      "PEs inherit the whole environment; no option is needed" },
    { " --mca -mca --prtemca --pmixmca --gmca --omca ",
      "the variables of shmem_env(7) configure the library, and mpirun starts "
      "programs that need MPI's settings" },
    { " --mpi --pmi -launcher -bootstrap -rmk ",
      "no option is needed: PEs find each other through oshrun" },
    { " -l --label -prepend-rank -prepend-pattern ",
      "--tag-output begins each line with its PE" },
    { " -o --output -e --error -outfile-pattern -errfile-pattern ",
      "--output-filename NAME writes NAME.PE for each PE" },
    { " -t --time -maxtime ", "--timeout ends the job after so many seconds" },
    { " -D --chdir -wdir-all -path --path ",
      "--wdir sets the directory of the PEs" },
    { " -i --input --stdin -stdin ", "PE 0 gets the standard input" },
    { " --allow-run-as-root -q --quiet -quiet -u --unbuffered --kill-on-bad-exit"
      " -K --enable-recovery ",
      "oshrun needs no such option" },
    { " -gdb --gdb -tv --tv -debug -xterm --xterm ",
      "--debug gdb or --debug valgrind starts PEs under these" },
    { " --configfile -configfile --app -app -f90 --multi-prog ",
      "a job has one program, which may start others by its PE number" },
};

const char *other_launcher_hint(const char *option)
{
    size_t len = strcspn(option, "=");
    const char *at;

    for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
        for (at = hints[i].names; (at = strchr(at, '-')); at += strcspn(at, " "))
            if (strncmp(at, option, len) == 0 && at[len] == ' ')
                return hints[i].text;
    return NULL;
}
