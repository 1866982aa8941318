/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - oshrun: start the PEs of an OpenSHMEM job on this host, or hand
 * the job to the launcher that reaches the others.  The steps are in opts.c,
 * handover.c and front.c; other files call find_program(). */
#include "oshrun.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Descriptors 0 to 2 exist from here on: a pipe that got such a number would
 * be taken for standard output. */
static void std_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static int usable(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return access(path, X_OK) == 0 ? 0 : errno;
}

char *find_program(const char *name, int *err)
{
    const char *dirs = getenv("PATH"), *end;
    char *path;
    int rc;

    if (strchr(name, '/')) {
        *err = usable(name);
        return *err ? NULL : must(strdup(name));
    }
    *err = ENOENT;
    for (; dirs && *name; dirs = *end ? end + 1 : NULL) {
        end = strchrnul(dirs, ':');
        path = alloc_printf("%.*s%s%s", (int)(end - dirs), dirs,
                           end > dirs ? "/" : "./", name);
        rc = usable(path);
        if (rc == 0)
            return path;
        /* A later directory may have it; one that is closed has nothing. */
        if (rc == EACCES && access(path, F_OK) == 0)
            *err = rc;
        free(path);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct opts o;
    int status;

    std_descriptors();
    opts_parse(&o, argc, argv);
    handover_replaced(&o, argc, argv);
    handover_hosts(&o);
    status = front_run(&o, argv[0]);
    free(o.exports);
    return status;
}
