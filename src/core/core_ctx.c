/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/core.h"
#include "base/lock.h"

#include <errno.h>
#include <stdlib.h>

static struct base_lock ctx_lock = LOCK_INIT;
static struct list_link contexts GUARDED_BY(ctx_lock) = LIST_INIT(contexts);

int core_ctx_create(const struct core_team *team, long options,
                    shmem_ctx_t *out)
{
    struct core_ctx *c = malloc(sizeof *c);

    if (!c) {
        log_warn(ERR_CTX, "shmem_ctx_create: no memory for a context");
        return -ENOMEM;
    }
    c->team = team;
    c->options = options;
    lock_acquire(&ctx_lock);
    list_append(&contexts, &c->link);
    lock_release(&ctx_lock);
    *out = (shmem_ctx_t)c;
    return 0;
}

void core_ctx_destroy(shmem_ctx_t ctx)
{
    struct core_ctx *c = (struct core_ctx *)ctx;

    core_quiet(c);
    lock_acquire(&ctx_lock);
    list_remove(&c->link);
    lock_release(&ctx_lock);
    free(c);
}

void core_ctx_drop_all(void)
{
    struct list_link *pos, *next;

    lock_acquire(&ctx_lock);
    list_each(pos, next, &contexts) {
        list_remove(pos);
        free(list_entry(pos, struct core_ctx, link));
    }
    lock_release(&ctx_lock);
}
