/* SPDX-License-Identifier: BSD-3-Clause */
/* unit.h - what several unit tests need: the lines that the library prints.
 * Checks belong outside of a capture, or their own lines are caught too. */
#ifndef UNIT_H
#define UNIT_H

#include "t.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { UNIT_TEXT = 16384 };
static T_UNUSED struct {
    int file, stderr_was;
    char text[UNIT_TEXT];
} unit_state;

/* From here on standard error goes to memory ... */
static T_UNUSED void unit_capture(void)
{
    fflush(stderr);
    unit_state.file = memfd_create("captured", MFD_CLOEXEC);
    unit_state.stderr_was = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    if (unit_state.file < 0 || unit_state.stderr_was < 0 ||
        dup2(unit_state.file, STDERR_FILENO) < 0) {
        perror("capture of standard error");
        exit(1);
    }
}

/* ... and here it comes back; the text is good until the next capture. */
static T_UNUSED const char *unit_captured(void)
{
    ssize_t n;

    fflush(stderr);
    dup2(unit_state.stderr_was, STDERR_FILENO);
    close(unit_state.stderr_was);
    n = pread(unit_state.file, unit_state.text, UNIT_TEXT - 1, 0);
    close(unit_state.file);
    unit_state.text[n > 0 ? n : 0] = '\0';
    return unit_state.text;
}

static T_UNUSED int unit_lines(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Shows the text where it lacks the part. */
static T_UNUSED bool unit_has(const char *text, const char *part,
                              const char *file, int line)
{
    char where[256];
    bool found = strstr(text, part) != NULL;

    if (!found && t_fail())
        fprintf(stderr, "%s\"%s\" is not in: %s\n",
                t_where(where, sizeof where, file, line), part, text);
    return found;
}
#define T_HAS(text, part) unit_has(text, part, T_HERE)

#endif
