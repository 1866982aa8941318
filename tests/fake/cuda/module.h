/* SPDX-License-Identifier: BSD-3-Clause */
/* module.h - functions of modules: module.c finds them, launch.c starts them. */
#ifndef FAKE_CUDA_MODULE_H
#define FAKE_CUDA_MODULE_H

#include "fake.h"
#include "ptx.h"

enum { MODULE = 0x4d4f4455, FUNCTION = 0x46554e43 };

struct module {
    unsigned magic;             /* 0 once it is unloaded */
    struct ptx_module *ptx;     /* NULL: the stand-in for nvrtc made it */
    struct function *functions; /* that are interpreted */
    int refs;                   /* atomic: its own, and launches' */
};

struct grid_of {
    struct dev_stream *s;
    void **args;
};

/* Of the library and built in; of the program and compiled; or interpreted. */
struct function {
    unsigned magic;
    const char *name;
    void (*run)(const struct grid_of *g);
    const struct dev_kernel *own;
    const struct ptx_kernel *kernel;
    struct module *module;      /* of the kernel */
    bool few;                   /* its threads share the elements, however
                                 * many there are */
    bool launched;
    size_t shared;              /* bytes of dynamic memory that it may have */
    struct function *next;
};

/* The function of the library that is built in, or NULL. */
struct function *fake_built_in(const char *name);
void fake_module_release(struct module *m);

#endif
