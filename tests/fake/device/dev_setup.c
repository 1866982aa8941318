/* SPDX-License-Identifier: BSD-3-Clause */
/* What the environment says, and the record of calls. */
#include "dev.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct dev_setup setup;
static int log_fd = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of these */
static char failing[64];
int dev_queues;
static int fails_with, skipped;

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtol(text, NULL, 0) : otherwise;
}

static enum dev_personality personality(void)
{
    static const char *const names[] = { "discrete", "coherent", "bare" };
    const char *text = getenv("FAKE_DEVICE");

    for (unsigned i = 0; text && i < 3; i++)
        if (!strcmp(text, names[i]))
            return (enum dev_personality)i;
    if (text && *text)
        fprintf(stderr, "fake device: FAKE_DEVICE=%s: it is one of discrete, "
                "coherent, bare\n", text);
    return DEV_DISCRETE;
}

static enum dev_peers peers(void)
{
    const char *text = getenv("FAKE_DEVICE_PEERS");

    if (text && !strcmp(text, "copy"))
        return DEV_COPY;
    return text && !strcmp(text, "none") ? DEV_NO_PEERS : DEV_ATOMICS;
}

static bool is_set(const char *name, const char *value)
{
    const char *text = getenv(name);

    return text && !strcmp(text, value);
}

static void load_vmm(void)
{
    setup.vmm = setup.is != DEV_BARE && !is_set("FAKE_DEVICE_VMM", "0");
    setup.vmm_nic = setup.vmm && !is_set("FAKE_DEVICE_VMM", "nordma");
    setup.fabric = !setup.vmm ? DEV_NO_FABRIC
        : is_set("FAKE_DEVICE_FABRIC", "1") ? DEV_FABRIC
        : is_set("FAKE_DEVICE_FABRIC", "refused") ? DEV_FABRIC_REFUSED
        : DEV_NO_FABRIC;
    setup.reserved = is_set("FAKE_DEVICE_RANGE", "reserved");
}

static void load(void)
{
    const char *file = getenv("FAKE_DEVICE_LOG");
    const char *fail = getenv("FAKE_DEVICE_FAIL");
    const char *text = getenv("FAKE_DEVICE_PER_THREAD");

    setup.is = personality();
    setup.count = (int)number("FAKE_DEVICE_COUNT", 1);
    setup.first = (int)number("FAKE_DEVICE_FIRST", 0);
    setup.machine = setup.first + setup.count;
    if (is_set("FAKE_DEVICE_VISIBLE", "one") && setup.count > 0) {
        setup.first = (int)number("SLUICE_JOB_PE", 0) % setup.count;
        setup.count = 1;
    }
    setup.refuses = is_set("FAKE_DEVICE_HIDDEN", "refused");
    setup.any_thread = text && !strcmp(text, "any");
    setup.parts = number("FAKE_DEVICE_PARTS", 0);
    setup.peers = peers();
    setup.bar = (size_t)number("FAKE_DEVICE_BAR", 0);
    setup.again = number("FAKE_DEVICE_AGAIN", 0);
    setup.dead = !getenv("FAKE_DEVICE_DEAD");
    setup.queues = (int)number("FAKE_DEVICE_QUEUES", -1);
    setup.waits = is_set("FAKE_DEVICE_WAITS", "processor");
    setup.done = is_set("FAKE_DEVICE_COPIES", "done");
    setup.coherent = is_set("FAKE_DEVICE_COARSE", "coherent");
    setup.ordered = is_set("FAKE_DEVICE_NIC", "ordered");
    setup.by_read = is_set("FAKE_DEVICE_NIC", "read");
    setup.flush = setup.by_read || is_set("FAKE_DEVICE_NIC", "late") ||
                  (setup.is == DEV_DISCRETE && !setup.ordered);
    load_vmm();
    setup.driver = (int)number("FAKE_DEVICE_DRIVER", 0);
    setup.memory = (size_t)number("FAKE_DEVICE_MEMORY", 1L << 30);
    if (file && *file)
        log_fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fail)
        sscanf(fail, "%63[^:]:%d", failing, &fails_with);
}

const struct dev_setup *dev_setup(void)
{
    pthread_once(&once, load);
    return &setup;
}

int dev_number(int device)
{
    return device + dev_setup()->first;
}

void dev_note(const char *call, const char *words)
{
    char line[256];
    int n;

    dev_setup();
    if (log_fd < 0)
        return;
    n = snprintf(line, sizeof line, "%d %s%s%s\n", (int)getpid(), call,
                 *words ? " " : "", words);
    if (n >= (int)sizeof line)
        n = sizeof line - 1;
    if (write(log_fd, line, (size_t)n) != n)
        perror("fake device: FAKE_DEVICE_LOG");
}

int dev_call(const char *call)
{
    int code;

    dev_note(call, "");
    pthread_mutex_lock(&lock);
    code = strcmp(call, failing) || skipped-- > 0 ? 0 : fails_with;
    pthread_mutex_unlock(&lock);
    return code;
}

void dev_fail(const char *call, int code, int after)
{
    dev_setup();
    pthread_mutex_lock(&lock);
    snprintf(failing, sizeof failing, "%s", call);
    fails_with = code;
    skipped = after;
    pthread_mutex_unlock(&lock);
}
