/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_module.c - the copies of the default context's state that modules of a
 * GPU have, for the calls of shmemg.h, which take no state.
 *
 * A copy is of a module that the program loads and initializes, or of code for
 * the vendor's runtime API, which registers itself as it is loaded, also before
 * the library is up.  All copies are filled as the layer opens and as the state
 * changes, and emptied as it closes, so that a kernel after that ends by a trap
 * and reads no memory that is gone.  Called by api and by kernel_state.c, which
 * has its lock then; nothing here takes that lock.  Calls of the vendor's
 * runtime are made by the functions that the code brings along: the library is
 * linked to no runtime. */
#include "kernel/kernel_int.h"
#include "base/lock.h"
#include "base/symbol.h"

#include <errno.h>
#include <stdlib.h>

static const char name[] = "shmemi_dev_state";

struct copy {
    struct list_link link;
    void *module;               /* NULL: of code that registered symbol */
    int (*symbol)(void **address);
    void *at;                   /* NULL: it is not filled */
};

static struct base_lock lock = LOCK_INIT;
static struct list_link copies GUARDED_BY(lock) = LIST_INIT(copies);
/* The content of copies; magic 0: there is no GPU whose kernels communicate. */
static shmemx_dev_t state GUARDED_BY(lock);
static const shmemx_dev_t empty;

static struct copy *find(const void *module, int (*symbol)(void **address))
    REQUIRES(lock)
{
    struct list_link *l, *tmp;
    struct copy *c;

    list_each(l, tmp, &copies) {
        c = list_entry(l, struct copy, link);
        if (c->module == module && c->symbol == symbol)
            return c;
    }
    return NULL;
}

static struct copy *add(void *module, int (*symbol)(void **address))
    REQUIRES(lock)
{
    struct copy *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->module = module;
    c->symbol = symbol;
    list_append(&copies, &c->link);
    return c;
}

static void forget(struct copy *c) REQUIRES(lock)
{
    list_remove(&c->link);
    free(c);
}

/* ---- code that registers itself ---- */

/* The runtime knows code behind its own constructor, which may be a later one
 * than that of the registration: late, a failure is tried again. */
static void find_symbol(struct copy *c, bool late) REQUIRES(lock)
{
    void *at = NULL;
    int was = gtl->enter(), error = c->symbol(&at);

    gtl->leave(was);
    if (!error)
        c->at = at;
    else if (error > 0 && late)
        log_info(LOG_KERNEL, "code that was loaded late is not known to the "
                 "runtime of %s yet: error %d", gtl->name, error);
    else if (error > 0)
        log_warn(ERR_DEVICE, "the runtime of %s does not find the state of "
                 "code that includes shmemg.h: error %d; kernels of this code "
                 "cannot communicate", gtl->name, error);
}

static void fill_code(struct copy *c, bool late) REQUIRES(lock)
{
    if (!c->at)
        find_symbol(c, late);
    if (c->at && gtl_copy_now(c->at, &state, sizeof state)) {
        log_warn(ERR_DEVICE, "the state of code that includes shmemg.h cannot "
                 "be written: %s", gtl_error());
        c->at = NULL;
    }
}

void kernel_code_register(int (*symbol)(void **address), size_t size)
{
    struct copy *c = NULL;

    lock_acquire(&lock);
    if (size != sizeof state)
        log_warn(ERR_ARG, "shmemx_dev_register: the code was compiled with "
                 "headers of another release: its state has %zu bytes, not "
                 "%zu; its kernels cannot communicate", size, sizeof state);
    else if (!find(NULL, symbol) && !(c = add(NULL, symbol)))
        log_warn(ERR_LIMIT, "shmemx_dev_register: no memory");
    if (c && state.magic)
        fill_code(c, true);
    lock_release(&lock);
}

void kernel_code_unregister(int (*symbol)(void **address))
{
    struct copy *c;

    lock_acquire(&lock);
    c = find(NULL, symbol);
    if (c)
        forget(c);
    lock_release(&lock);
}

void kernel_code_retry(void)
{
    struct list_link *l, *tmp;
    struct copy *c;

    lock_acquire(&lock);
    list_each(l, tmp, &copies) {
        c = list_entry(l, struct copy, link);
        if (state.magic && !c->module && !c->at)
            fill_code(c, true);
    }
    lock_release(&lock);
}

/* ---- modules that the program loads ---- */

static int find_variable(const char *call, void *module, void **out)
{
    size_t size = 0;
    int rc = gtl->module_symbol(module, name, out, &size);

    if (rc == -ENOENT)
        log_warn(ERR_DEVICE, "%s: the module has no variable %s: it makes no "
                 "call of shmemg.h", symbol_public(call), name);
    else if (rc)
        log_warn(ERR_DEVICE, "%s: %s", symbol_public(call), gtl_error());
    else if (size != sizeof empty)
        log_warn(ERR_ARG, "%s: the module was compiled with headers of another "
                 "release: its state has %zu bytes, not %zu",
                 symbol_public(call), size, sizeof empty);
    else
        return 0;
    return rc ? rc : -EINVAL;
}

static int write_module(const char *call, void *at, const shmemx_dev_t *what)
{
    int rc = gtl_copy_now(at, what, sizeof *what);

    if (rc)
        log_warn(ERR_DEVICE, "%s: the module's state cannot be written: %s",
                 symbol_public(call), gtl_error());
    return rc;
}

int kernel_module_init(const char *call, void *module)
{
    struct copy *c;
    void *at = NULL;
    int rc = find_variable(call, module, &at);

    if (rc)
        return rc;
    lock_acquire(&lock);
    rc = write_module(call, at, &state);
    c = rc ? NULL : find(module, NULL);
    if (!rc && !c)
        c = add(module, NULL);
    if (c)
        c->at = at;
    else if (!rc)
        rc = -ENOMEM;
    lock_release(&lock);
    return rc;
}

int kernel_module_finalize(const char *call, void *module)
{
    struct copy *c;
    int rc = -EINVAL;

    lock_acquire(&lock);
    c = module ? find(module, NULL) : NULL;
    if (c) {
        rc = write_module(call, c->at, &empty);
        forget(c);
    } else {
        log_warn(ERR_ARG, "%s: the module was not initialized",
                 symbol_public(call));
    }
    lock_release(&lock);
    return rc;
}

/* ---- all of them ---- */

void kernel_copies_fill(const shmemx_dev_t *of_default)
{
    struct list_link *l, *tmp;
    struct copy *c;

    lock_acquire(&lock);
    state = *of_default;
    list_each(l, tmp, &copies) {
        c = list_entry(l, struct copy, link);
        if (c->module)
            write_module("shmemx_module_init", c->at, &state);
        else
            fill_code(c, false);
    }
    lock_release(&lock);
}

/* A copy that cannot be written is on a device that the program has reset. */
void kernel_copies_clear(void)
{
    struct list_link *l, *tmp;
    struct copy *c;

    lock_acquire(&lock);
    state = empty;
    list_each(l, tmp, &copies) {
        c = list_entry(l, struct copy, link);
        if (c->at && gtl_copy_now(c->at, &empty, sizeof empty))
            log_info(LOG_KERNEL, "the state of a module is left: %s",
                     gtl_error());
        c->at = NULL;
        if (c->module)
            forget(c);
    }
    lock_release(&lock);
}

void kernel_copies_refuse(void)
{
    static bool warned;

    lock_acquire(&lock);
    if (copies.next != &copies && !warned)
        log_warn(ERR_DEVICE, "the program has kernels that were compiled for a "
                 "GPU with shmemg.h or nvshmem.h, and the device is the "
                 "software device: they cannot communicate; run them where a "
                 "GPU is, or write them as C functions with shmemx_dev.h");
    warned |= copies.next != &copies;
    lock_release(&lock);
}
