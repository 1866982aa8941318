/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include <shmem.h>

#include "app.h"

int program_run(const struct program *p, int argc, char **argv)
{
    int status;

    app_begin(p->name);
    status = p->options(argc, argv);
    if (status == 0 &&
        !device_open(p->device, p->kernels, p->count, p->text))
        status = 1;
    if (status == 0)
        status = options_fit(p->o, p->device, p->calling);
    if (status == 0) {
        p->work();
        device_close(p->device);
    }
    shmem_finalize();
    return status == OPTIONS_DONE ? 0 : status;
}
