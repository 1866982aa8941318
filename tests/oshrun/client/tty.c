/* SPDX-License-Identifier: BSD-3-Clause */
/* tty out|in COMMAND... - runs it with a terminal that is not its controlling
 * one as standard output, without a reader, or as standard input, on which
 * two lines and an end of file come; exits as it does. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static const char typed[] = "first\nsecond\n\004";
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave, status;
    int in = argc > 2 && !strcmp(argv[1], "in");
    pid_t child;

    if (argc < 3 || master < 0 || grantpt(master) || unlockpt(master))
        return 99;
    slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        return 99;
    child = fork();
    if (child == 0) {
        dup2(slave, in ? STDIN_FILENO : STDOUT_FILENO);
        execvp(argv[2], argv + 2);
        _exit(98);
    }
    if (in && write(master, typed, sizeof typed - 1) < 0)
        return 97;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 96;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
