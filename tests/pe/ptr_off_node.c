/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: of a PE on another node shmem_ptr gives nothing and yet it is
 * accessible; of this PE and those of its node it gives memory.
 * PEs: 2 4
 * Launch: --ppn 2 */
#include <shmem.h>

#include "t.h"

static long word;

T(only_on_node_pes_have_pointers)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    long *heap = shmem_malloc(sizeof *heap);

    for (int pe = 0; pe < n; pe++) {
        bool on_node = pe / 2 == me / 2;

        T_EQ(shmem_ptr(&word, pe) != NULL, on_node);
        T_EQ(shmem_ptr(heap, pe) != NULL, on_node);
        T_EQ(shmem_pe_accessible(pe), 1);
        T_EQ(shmem_addr_accessible(&word, pe), 1);
        T_EQ(shmem_addr_accessible(heap, pe), 1);
        T_EQ(shmem_addr_accessible(&me, pe), 0);
    }
    shmem_free(heap);
}

T(the_shared_team_is_the_node)
{
    T_EQ(shmem_team_n_pes(SHMEM_TEAM_SHARED), 2);
    T_EQ(shmem_team_my_pe(SHMEM_TEAM_SHARED), shmem_my_pe() % 2);
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    T_RUN(only_on_node_pes_have_pointers);
    T_RUN(the_shared_team_is_the_node);
    shmem_finalize();
    return T_DONE();
}
