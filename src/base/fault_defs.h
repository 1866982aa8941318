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
FAULT(HEAP_DEVICE, "heap.device", "the device has no memory for a heap")
FAULT(HEAP_LEND, "heap.lend", "device memory cannot be lent to other PEs")
FAULT(OFI_EP, "ofi.ep", "the provider opens no further endpoint")
FAULT(OFI_MR, "ofi.mr", "the provider refuses to register memory")
FAULT(OFI_AV, "ofi.av", "the provider does not take a peer's address")
FAULT(OFI_AGAIN, "ofi.again", "the provider has no room for an operation")
FAULT(OFI_CQ, "ofi.cq", "an operation between nodes fails")
FAULT(OFI_TEST, "ofi.test", "the test of a provider fails")
