/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the host that kernels read and write: whole pages, registered with
 * the device.  Called when rings and the layer open and close; never on the
 * path of a request. */
#include "kernel/kernel_memory.h"
#include "gtl/gtl.h"

#include <sys/mman.h>
#include <unistd.h>

static size_t whole(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (size + page - 1) / page * page;
}

void *kernel_pinned_alloc(size_t size)
{
    void *seen, *p = mmap(NULL, whole(size), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (!gtl->pin(p, whole(size), GTL_PIN_MEMORY, &seen)) {
        if (seen == p)
            return p;
        gtl->unpin(p);
    }
    munmap(p, whole(size));
    return NULL;
}

void kernel_pinned_free(void *p, size_t size)
{
    if (!p)
        return;
    gtl->unpin(p);
    munmap(p, whole(size));
}

void kernel_pinned_retire(void *p, size_t size, void **old)
{
    if (*old)
        munmap(*old, whole(size));
    *old = p;
    if (p)
        gtl->unpin(p);
}
