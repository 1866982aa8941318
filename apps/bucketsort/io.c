/* SPDX-License-Identifier: BSD-3-Clause */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "files of keys are little endian");

enum { PIECE = 1 << 20 };       /* bytes read or written at a time */

/* ---------------------------------------------------------------- input ---- */

static int open_checked(struct job *job, const char *path, uint64_t *count)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        job_error(job, E_INPUT, "%s: open: %m", path);
        return -1;
    }
    if (fstat(fd, &st) != 0)
        job_error(job, E_INPUT, "%s: fstat: %m", path);
    else if (S_ISDIR(st.st_mode))
        job_error(job, E_INPUT, "%s: is a directory", path);
    else if (!S_ISREG(st.st_mode))
        job_error(job, E_INPUT, "%s: not a regular file, and keys are read in "
                  "parts", path);
    else if (st.st_size % job->width)
        job_error(job, E_SIZE, "%s: %jd bytes are not a multiple of %d: "
                  "truncated, or of another --type", path,
                  (intmax_t)st.st_size, job->width);
    if (job->code != E_NONE) {
        close(fd);
        return -1;
    }
    *count = (uint64_t)st.st_size / (unsigned)job->width;
    return fd;
}

bool io_open(struct job *job, const char *path, int *fd, uint64_t *count)
{
    uint64_t words[GATHER_WORDS] = { 0 }, n = 0;
    const uint64_t (*all)[GATHER_WORDS];
    int file = open_checked(job, path, &n);

    words[0] = n;
    all = share_gather(job, words);
    if (job->code == E_NONE && all[0][0] != n)
        job_error(job, E_INPUT, "%s: has %" PRIu64 " keys here and %" PRIu64
                  " on PE 0: not one file for all PEs", path, n, all[0][0]);
    if (share_failed(job)) {
        if (file >= 0)
            close(file);
        return false;
    }
    *fd = file;
    *count = n;
    return true;
}

bool io_read(struct job *job, int fd, const char *path, uint64_t first,
             size_t n, void *keys)
{
    size_t width = (size_t)job->width, bytes = n * width, done = 0;

    while (done < bytes) {
        size_t want = bytes - done < PIECE ? bytes - done : PIECE;
        char *to = (char *)keys + done;
        ssize_t got;

        got = pread(fd, to, want, (off_t)(first * width + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            job_error(job, E_INPUT, "%s: pread: %m", path);
            return false;
        }
        if (got == 0) {
            job_error(job, E_INPUT, "%s: ends at byte %zu of %zu: truncated "
                      "while it was read", path,
                      (size_t)first * width + done,
                      (size_t)first * width + bytes);
            return false;
        }
        done += (size_t)got;
    }
    keys_flip(job->width, keys, n, job->flip);
    return true;
}

/* --------------------------------------------------------------- output ---- */

/* What the handler removes; a file is output at a time. */
static char *volatile doomed;
static const int fatal[] = { SIGHUP, SIGINT, SIGTERM };
enum { FATALS = sizeof(fatal) / sizeof(fatal[0]) };
static struct sigaction before[FATALS];

static void on_fatal(int sig)
{
    if (doomed)
        unlink(doomed);
    for (int i = 0; i < FATALS; i++)
        if (fatal[i] == sig)
            sigaction(sig, &before[i], NULL);
    raise(sig);                 /* delivered when this handler returns */
}

static void guard(char *temp)
{
    struct sigaction act = { .sa_handler = on_fatal };

    doomed = temp;
    for (int i = 0; i < FATALS; i++) {
        sigaction(fatal[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(fatal[i], &act, NULL);
    }
}

static void unguard(void)
{
    if (!doomed)
        return;
    doomed = NULL;
    for (int i = 0; i < FATALS; i++)
        sigaction(fatal[i], &before[i], NULL);
}

/* The file that path leads to, so that a link stays a link. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);

    return real ? real : strdup(path);
}

/* DIR/.NAME.PID.tmp */
static char *temp_name(const char *path, long id)
{
    const char *slash = strrchr(path, '/');
    int dir = slash ? (int)(slash + 1 - path) : 0;
    char *name;

    if (asprintf(&name, "%.*s.%.200s.%ld.tmp", dir, path, path + dir, id) < 0)
        return NULL;
    return name;
}

/* May path become an output?  Sets the permissions that it has or shall get. */
static void check_target(struct job *job, const char *path, int input,
                         unsigned *mode)
{
    mode_t mask = umask(0);
    struct stat st, in;

    umask(mask);
    *mode = 0666 & ~mask;
    if (stat(path, &st) != 0) {
        if (errno != ENOENT)
            job_error(job, E_OUTPUT, "%s: stat: %m", path);
        return;
    }
    if (S_ISDIR(st.st_mode))
        job_error(job, E_OUTPUT, "%s: is a directory", path);
    else if (!S_ISREG(st.st_mode))
        job_error(job, E_OUTPUT, "%s: is there and not a regular file", path);
    else if (input >= 0 && fstat(input, &in) == 0 &&
             in.st_dev == st.st_dev && in.st_ino == st.st_ino)
        job_error(job, E_OUTPUT, "%s: is the input, which is never changed: "
                  "name another file", path);
    *mode = st.st_mode & 07777;
}

/* Room is taken at once: a full disk shows before the work, not after it. */
static void make_temp(struct job *job, struct io_out *out, uint64_t bytes)
{
    int rc;

    out->fd = open(out->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out->fd < 0) {
        job_error(job, E_OUTPUT, "%s: cannot be made: %m", out->path);
        return;
    }
    out->made = true;
    rc = bytes ? posix_fallocate(out->fd, 0, (off_t)bytes) : 0;
    if (rc == EOPNOTSUPP || rc == EINVAL)
        rc = ftruncate(out->fd, (off_t)bytes) == 0 ? 0 : errno;
    if (rc)
        job_error(job, E_OUTPUT, "%s: room for %" PRIu64 " bytes: %s",
                  out->path, bytes, strerror(rc));
}

bool io_out_open(struct job *job, const char *path, int input, uint64_t count,
                 struct io_out *out)
{
    uint64_t words[GATHER_WORDS] = { (uint64_t)getpid() };
    uint64_t bytes = count * (unsigned)job->width;
    long id = (long)share_gather(job, words)[0][0];

    /* A file beyond the limit of its size is an error, not a signal. */
    signal(SIGXFSZ, SIG_IGN);
    *out = (struct io_out){ .fd = -1, .path = resolve(path) };
    out->temp = out->path ? temp_name(out->path, id) : NULL;
    if (!out->temp) {
        job_error(job, E_MEMORY, "name of the output: no memory");
    } else {
        guard(out->temp);
        if (job->pe == 0)
            check_target(job, out->path, input, &out->mode);
        if (job->pe == 0 && job->code == E_NONE)
            make_temp(job, out, bytes);
    }
    if (share_failed(job))
        goto discard;
    if (job->pe != 0) {
        out->fd = open(out->temp, O_RDWR | O_CLOEXEC);
        if (out->fd < 0)
            job_error(job, E_OUTPUT, "%s: open: %m: the directory must be one "
                      "for all PEs", out->path);
    }
    if (!share_failed(job))
        return true;
discard:
    io_out_discard(out);
    return false;
}

bool io_out_write(struct job *job, struct io_out *out, uint64_t first,
                  size_t n, const void *keys)
{
    size_t width = (size_t)job->width, bytes = n * width, done = 0;
    char *piece = malloc(PIECE);

    if (!piece)
        job_error(job, E_MEMORY, "%s: buffer: no memory", out->path);
    while (piece && done < bytes) {
        size_t part = bytes - done < PIECE ? bytes - done : PIECE, at = 0;

        memcpy(piece, (const char *)keys + done, part);
        keys_flip(job->width, piece, part / width, job->flip);
        while (at < part) {
            ssize_t put = pwrite(out->fd, piece + at, part - at,
                                 (off_t)(first * width + done + at));

            if (put < 0 && errno == EINTR)
                continue;
            if (put <= 0) {
                job_error(job, E_OUTPUT, "%s: pwrite: %m", out->path);
                goto out;
            }
            at += (size_t)put;
        }
        done += part;
    }
out:
    free(piece);
    return job->code == E_NONE;
}

bool io_out_commit(struct job *job, struct io_out *out)
{
    bool done = false;

    /* Errors that a file system reports late appear here. */
    if (job->code == E_NONE && fdatasync(out->fd) != 0)
        job_error(job, E_OUTPUT, "%s: fdatasync: %m", out->path);
    if (close(out->fd) != 0)
        job_error(job, E_OUTPUT, "%s: close: %m", out->path);
    out->fd = -1;
    if (share_failed(job))
        goto discard;
    if (job->pe == 0) {
        if (chmod(out->temp, out->mode) != 0)
            job_error(job, E_OUTPUT, "%s: chmod: %m", out->path);
        else if (rename(out->temp, out->path) != 0)
            job_error(job, E_OUTPUT, "%s: rename: %m", out->path);
        else
            out->made = false;
    }
    done = !share_failed(job);
discard:
    io_out_discard(out);
    return done;
}

void io_out_discard(struct io_out *out)
{
    if (out->fd >= 0)
        close(out->fd);
    if (out->made)
        unlink(out->temp);
    unguard();
    free(out->temp);
    free(out->path);
    *out = (struct io_out){ .fd = -1 };
}

/* --------------------------------------------------------------- report ---- */

static bool is_file(const char *path, const struct stat *st)
{
    struct stat other;

    return path && stat(path, &other) == 0 && other.st_dev == st->st_dev &&
           other.st_ino == st->st_ino;
}

/* May a file be made in the directory of path, errno says why not. */
static bool dir_takes_files(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? strndup(path, (size_t)(slash + 1 - path))
                      : strdup(".");
    bool takes = dir && access(dir, W_OK | X_OK) == 0;

    free(dir);
    return takes;
}

void io_report_check(struct job *job, const char *path)
{
    const struct opts *o = job->opts;
    struct stat st;
    char *real = resolve(path);
    bool there = stat(path, &st) == 0;

    if (!real)
        job_error(job, E_MEMORY, "--json %s: no memory", path);
    else if (!there && errno != ENOENT)
        job_error(job, E_REPORT, "--json %s: stat: %m", path);
    else if (there && S_ISDIR(st.st_mode))
        job_error(job, E_REPORT, "--json %s: is a directory", path);
    else if (there && is_file(o->input, &st))
        job_error(job, E_REPORT, "--json %s: is the input, which is never "
                  "changed: name another file", path);
    else if (o->output && (strcmp(o->output, path) == 0 ||
                           (there && is_file(o->output, &st))))
        job_error(job, E_REPORT, "--json %s: is the output: name another file",
                  path);
    else if (there && !S_ISREG(st.st_mode) ? access(path, W_OK) != 0
                                           : !dir_takes_files(real))
        job_error(job, E_REPORT, "--json %s: cannot be made: %m", path);
    free(real);
}

/* A device or pipe takes the report itself, a file has another name first. */
static void report_open_file(struct job *job, const char *path,
                             struct io_out *out)
{
    struct stat st;
    mode_t mask = umask(0);

    umask(mask);
    out->mode = 0666 & ~mask;
    if (stat(out->path, &st) == 0) {
        out->mode = st.st_mode & 07777;
        if (!S_ISREG(st.st_mode)) {
            out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
            goto opened;
        }
    }
    out->temp = temp_name(out->path, (long)getpid());
    if (!out->temp) {
        job_error(job, E_MEMORY, "--json %s: no memory", path);
        return;
    }
    guard(out->temp);
    out->fd = open(out->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    out->made = out->fd >= 0;
opened:
    if (out->fd < 0)
        job_error(job, E_REPORT, "--json %s: open: %m", path);
}

void io_report_write(struct job *job, const char *path, const char *text,
                     size_t n)
{
    struct io_out out = { .fd = -1, .path = resolve(path) };
    size_t done = 0;

    signal(SIGXFSZ, SIG_IGN);
    io_report_check(job, path); /* the output is there only now */
    if (!out.path)
        job_error(job, E_MEMORY, "--json %s: no memory", path);
    else if (job->code == E_NONE)
        report_open_file(job, path, &out);
    while (out.fd >= 0 && done < n) {
        ssize_t put = write(out.fd, text + done, n - done);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            job_error(job, E_REPORT, "--json %s: write: %m", path);
            break;
        }
        done += (size_t)put;
    }
    if (out.fd >= 0 && close(out.fd) != 0)
        job_error(job, E_REPORT, "--json %s: close: %m", path);
    out.fd = -1;
    if (out.made && job->code == E_NONE) {
        if (chmod(out.temp, out.mode) != 0 || rename(out.temp, out.path) != 0)
            job_error(job, E_REPORT, "--json %s: rename: %m", path);
        else
            out.made = false;
    }
    io_out_discard(&out);
}
