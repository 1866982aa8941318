/* SPDX-License-Identifier: BSD-3-Clause */
/* fault_defs.h - the sites that SHMEM_FAULT can make fail.
 * FAULT(NAME, site, the failure).  shmem_env(7) lists them.  fault.c has the
 * names of earlier versions.  No include guard. */
FAULT(MEMBARRIER, "membarrier",
      "the kernel refuses fences of all PEs, so that sleepers poll")
FAULT(RT_INIT, "rt.init", "the launcher does not answer")
FAULT(RT_FENCE, "rt.fence", "the start-up fence fails")
FAULT(SM_MEMFD, "sm.memfd", "memfd_create fails")
FAULT(SM_MAP, "sm.map", "mapping the node's memory fails")
FAULT(SM_HELLO, "sm.hello", "a PE sends a wrong token to the node's leader")
FAULT(SM_PASS, "sm.pass", "a descriptor of device memory does not arrive")
FAULT(HEAP_COMMIT, "heap.commit", "the check of memory finds too little")
FAULT(HEAP_DATA, "heap.data", "remapping static data fails")
FAULT(HEAP_ALLOC, "heap.alloc", "a symmetric allocation finds no memory")
FAULT(HEAP_COPY, "heap.copy",
      "the device does not copy a block that a reallocation moves")
FAULT(HEAP_TABLES, "heap.tables",
      "no private memory for further symmetric blocks in the tables")
FAULT(HEAP_DEVICE, "heap.device", "the device has no memory for a heap")
FAULT(HEAP_EXPORT, "heap.export",
      "device memory cannot be exported to other PEs")
FAULT(OFI_EP, "ofi.ep", "the provider opens no further endpoint")
FAULT(OFI_MR, "ofi.mr", "the provider refuses to register memory")
FAULT(OFI_AV, "ofi.av", "the provider refuses a peer's address")
FAULT(OFI_AGAIN, "ofi.again", "the provider has no room for an operation")
FAULT(OFI_CQ, "ofi.cq", "an operation between nodes fails")
FAULT(OFI_KEY, "ofi.key", "an operation of a stream has a wrong key")
FAULT(OFI_FLAG, "ofi.flag",
      "the update of the flag that shows a stream its completed NIC operations "
      "fails")
FAULT(OFI_POST, "ofi.post", "the provider refuses an operation of a stream")
FAULT(OFI_NUMBER, "ofi.number", "a message of a stream of bytes has the number of the next one")
FAULT(OFI_HMEM, "ofi.hmem", "the NIC moves wrong bytes to device memory")
FAULT(OFI_GROW, "ofi.grow",
      "the provider refuses to register a device heap that has grown")
FAULT(OFI_TURN, "ofi.turn",
      "the progress thread polls the network every 100 ms only")
FAULT(OFI_TEST, "ofi.test", "the test of a provider fails")
FAULT(OFI_RAIL, "ofi.rail", "a further NIC of a PE does not open")
FAULT(STREAM_PROGRESS, "stream_progress",
      "the progress thread polls no stream")
FAULT(STREAM_KEEP, "stream_keep",
      "a stream passes no unfinished work of a start to the progress thread")
FAULT(STREAM_TRAFFIC, "stream_traffic",
      "a start always finds incoming messages")
FAULT(STREAM_POLL, "stream_poll",
      "each poll of a queue for waiting streams takes 50 ms")
FAULT(STREAM_BOUNCE, "stream_bounce",
      "there is no memory for bounce buffers to a device")
