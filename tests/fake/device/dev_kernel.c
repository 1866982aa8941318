/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of programs: their own text, compiled for the processor. */
#include "dev.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct dev_kernel *kernels;

static void load(void)
{
    const char *file = getenv("FAKE_DEVICE_KERNELS");
    void *library = file && *file ? dlopen(file, RTLD_NOW) : NULL;

    if (library)
        kernels = dlsym(library, "dev_kernels");
    if (file && *file && !kernels)
        fprintf(stderr, "FAKE_DEVICE_KERNELS: %s\n", dlerror());
}

const struct dev_kernel *dev_kernel_find(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct dev_kernel *k;

    pthread_once(&once, load);
    for (k = kernels; k && k->name; k++)
        if (!strcmp(k->name, name))
            return k;
    return NULL;
}

struct launch {
    const struct dev_kernel *k;
    unsigned groups, items;
    union {
        void *pointers[1];
        char bytes[DEV_ARG - 16];
    } arg;
};

static int step(void *p)
{
    struct launch *l = p;
    struct dev_item it = { .groups = l->groups, .items = l->items };
    void **at = l->arg.pointers;

    for (unsigned i = 0; i < l->k->pointers; i++) {
        if (!at[i])
            continue;
        at[i] = dev_reach(at[i], 1);
        if (!at[i])
            return -EFAULT;
    }
    for (it.group = 0; it.group < it.groups; it.group++)
        for (it.phase = 0; it.phase < l->k->phases; it.phase++)
            for (it.item = 0; it.item < it.items; it.item++)
                l->k->body(&it, &l->arg);
    dev_stored(NULL, 0);
    return 0;
}

int dev_kernel_run(struct dev_stream *s, const struct dev_kernel *k,
                   unsigned groups, unsigned items, const void *arg)
{
    struct launch l = { .k = k, .groups = groups, .items = items };

    if (k->size > sizeof l.arg)
        return -EINVAL;
    memcpy(&l.arg, arg, k->size);
    dev_launch(s, step, &l, sizeof l);
    return 0;
}
