/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what the PEs of a NIC take of its counters and entries is never
 * more than it has, and a PE alone takes what a halo of messages wants. */
#include "unit.h"

#include "ofi/net/ofi_cxi.h"
#include "ofi/trig/ofi_trig.h"

enum { COUNTERS = 2047, OF_ENDPOINT = 2 };

/* Two-input triggers and triggers have two counters each. */
static int wanted(const struct ofi_trig_plan *p)
{
    return OF_ENDPOINT + p->chains + 2 * p->two_inputs + 2 * p->made;
}

T(counters_suffice_for_what_each_pe_plans)
{
    struct ofi_trig_plan p;

    for (int pes = 1; pes <= 256; pes++) {
        ofi_trig_divide(500, COUNTERS, pes, 0, &p);
        T_LT(pes * p.counters, COUNTERS + 1);
        if (pes <= 128)
            T_LT(wanted(&p), p.counters + 1);
        T_LT(OF_ENDPOINT + 1 + 2, p.counters + 1);
    }
}

T(entries_are_divided)
{
    struct ofi_trig_plan p;

    for (int pes = 1; pes <= 256; pes++) {
        ofi_trig_divide(2040, COUNTERS, pes, 0, &p);
        T_LT((size_t)pes * p.entries, 2041);
    }
    ofi_trig_divide(0, COUNTERS, 4, 0, &p);
    T_EQ(p.entries, 0);
}

T(the_variable_takes_no_more_than_the_share)
{
    struct ofi_trig_plan p;

    ofi_trig_divide(500, COUNTERS, 8, 100, &p);
    T_EQ(p.entries, 56);
    ofi_trig_divide(500, COUNTERS, 8, 20, &p);
    T_EQ(p.entries, 20);
    ofi_trig_divide(0, COUNTERS, 1, 50, &p);
    T_EQ(p.entries, 0);
    ofi_trig_divide(OFI_DEPTH_UNKNOWN, COUNTERS, 4, 9, &p);
    T_EQ(p.entries, 9);
    ofi_trig_divide(OFI_DEPTH_UNKNOWN, COUNTERS, 4, 0, &p);
    T_EQ(p.entries, 0);
}

T(a_pe_alone_has_much)
{
    struct ofi_trig_plan p;

    ofi_trig_divide(500, COUNTERS, 1, 0, &p);
    T_EQ(p.entries, 450);
    T_EQ(p.made, 16);
    T_LT(OFI_CHAINS - 1, p.chains);
    T_LT(128, p.two_inputs);
}

int main(void)
{
    T_RUN(counters_suffice_for_what_each_pe_plans);
    T_RUN(entries_are_divided);
    T_RUN(the_variable_takes_no_more_than_the_share);
    T_RUN(a_pe_alone_has_much);
    return T_DONE();
}
