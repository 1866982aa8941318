/* SPDX-License-Identifier: BSD-3-Clause */
/* fault_defs.h - the places that SHMEM_FAULT can make fail.
 * FAULT(NAME, site, what fails).  No include guard. */
FAULT(RT_INIT, "rt.init", "PMIx_Init finds no server")
FAULT(RT_FENCE, "rt.fence", "the start-up fence fails")
FAULT(SM_MEMFD, "sm.memfd", "memfd_create fails")
FAULT(SM_MAP, "sm.map", "mapping the node's memory fails")
FAULT(SM_HELLO, "sm.hello", "a PE sends a wrong token to the node's leader")
FAULT(HEAP_COMMIT, "heap.commit", "the check of memory finds too little")
FAULT(HEAP_DATA, "heap.data", "remapping static data fails")
FAULT(HEAP_ALLOC, "heap.alloc", "a symmetric allocation finds no memory")
