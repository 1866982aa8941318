/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: each word of SHMEM_DEVICE has its driver, and no slot of a driver's
 * table is empty: a call that a device does not have is its gtl_no_...(). */
#include "unit.h"

#include "base/env.h"
#include "gtl/gtl.h"
#include "gtl/gtl_int.h"

#define SLOTS (sizeof(struct gtl_ops) / sizeof(void *))

static void check(const struct gtl_ops *ops)
{
    void *slots[SLOTS];

    memcpy(slots, ops, sizeof slots);
    for (size_t i = 0; i < SLOTS; i++)
        if (!T_TRUE(slots[i] != NULL))
            fprintf(stderr, "slot %zu of the driver %s\n", i, ops->name);
}

T(every_driver_fills_its_table)
{
    T_EQ(sizeof(struct gtl_ops) % sizeof(void *), 0);
    for (int i = ENV_DEVICE_AUTO + 1; i <= ENV_DEVICE_NONE; i++)
        if (T_TRUE(gtl_drivers[i] != NULL))
            check(gtl_drivers[i]);
        else
            fprintf(stderr, "value %d of SHMEM_DEVICE (env.h) has no driver in "
                    "gtl_drivers (gtl.c)\n", i);
}

int main(void)
{
    T_RUN(every_driver_fills_its_table);
    return T_DONE();
}
