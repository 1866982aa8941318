/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs of tests that stop or kill a process and go on once it has come
 * to that; not a test. */
#ifndef TESTS_AWAIT_STATE_H
#define TESTS_AWAIT_STATE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Until the process is in that state, as /proc has it: T, stopped; Z, ended and
 * not yet waited for. */
static inline void await_state(long pid, char state)
{
    char name[64], text[512], *end = NULL;

    snprintf(name, sizeof name, "/proc/%ld/stat", pid);
    while (!end || end[2] != state) {
        FILE *f = fopen(name, "r");

        if (!f || !fgets(text, sizeof text, f))
            exit(8);
        fclose(f);
        end = strrchr(text, ')');
        usleep(1000);
    }
}

#endif
