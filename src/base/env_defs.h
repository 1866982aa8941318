/* SPDX-License-Identifier: BSD-3-Clause */
/* env_defs.h - every environment variable of the project, once.
 * ENV(room, NAME, kind, default, least, most, help): the variable is
 * SHMEM_NAME.  Kinds: any (set to anything means yes), flag, int, size, word
 * (help begins with the words, joined by |), text.  A row of room "oshrun" or
 * "oshcc" is read by that tool only.  This list has no include guard; env.h,
 * env.c, shmem_info and shmem_env(7) expand it. */
ENV(api,  VERSION,        any,  "", "", "", "PE 0 prints the library version at start")
ENV(api,  INFO,           any,  "", "", "", "PE 0 prints this table at start")
ENV(api,  DEBUG,          any,  "", "", "", "debugging messages, as SHMEM_LOG=debug")
ENV(base, LOG,            text, "warn", "", "", "level[:room,room]; levels error warn info debug trace")
ENV(base, FAULT,          text, "", "", "", "site:rate:seed[,...]; makes the named calls fail, for tests")
ENV(rt,   SINGLETON,      flag, "0", "", "", "start as one PE even if a launcher ran several copies")
ENV(rt,   PPN,            int,  "0", "0", "1048576", "every so many PEs count as a node (set by oshrun --ppn); 0: real nodes")
ENV(rt,   NIC_MAP,        text, "", "", "", "NIC,NIC,... for the PEs of a node in turn, or PE:NIC,PE-PE:NIC,...; unset: the nearest NIC")
ENV(heap, SYMMETRIC_SIZE, size, "", "1", "", "symmetric heap per PE, like 512m or 3.1G; unset: 512m, less where memory is short")
ENV(heap, STATIC_DATA,    flag, "1", "", "", "make static data of the main program symmetric")
ENV(core, SPIN_US,        int,  "20", "0", "1000000", "microseconds a wait spins before it yields; not used where PEs outnumber cores")
ENV(core, STALL,          int,  "10", "0", "1000000", "seconds after which a wait is told of; 0: never")
ENV(core, STATE_SIGNAL,   flag, "1", "", "", "SIGUSR2 makes a PE print what it does, unless the program handles it")
ENV(core, CHECK,          flag, "0", "", "", "compare what PEs pass to collectives, look contexts and teams up")
ENV(ofi,  OFI_PROVIDER,   text, "", "", "", "libfabric provider between nodes, like cxi or tcp;ofi_rxm; unset: the best that works")
ENV(ofi,  OFI_DOMAIN,     text, "", "", "", "libfabric domain, such as a NIC or an interface; unset: the nearest")
ENV(ofi,  OFI_FABRIC,     text, "", "", "", "libfabric fabric, such as a network address; unset: any")
ENV(ofi,  OFI_ENDPOINTS,  int,  "8", "1", "64", "endpoints that contexts get of their own; further contexts share them")
ENV(ofi,  OFI_EVENTS,     flag, "1", "", "", "sleep on the provider's events; 0: look now and then, which makes operations faster and a computing target slower")
ENV(ofi,  OFI_AMO,        word, "auto", "", "", "auto|nic|message: atomics between nodes by the provider or by the target's processor")
ENV(ofi,  TIMEOUT,        int,  "60", "0", "1000000", "seconds without an answer after which a far PE counts as lost; 0: never")
ENV(coll, COLL_SYNC,      word, "auto", "", "", "auto|dissemination|gather|nodes: how PEs meet")
ENV(coll, COLL_BROADCAST, word, "auto", "", "", "auto|push|pull|binomial|pipeline|nodes: algorithm of broadcasts")
ENV(coll, COLL_COLLECT,   word, "auto", "", "", "auto|push|pull|ring|nodes: algorithm of collect")
ENV(coll, COLL_FCOLLECT,  word, "auto", "", "", "auto|push|pull|bruck|ring|nodes: algorithm of fcollect")
ENV(coll, COLL_ALLTOALL,  word, "auto", "", "", "auto|push|pull|bruck|pairwise: algorithm of alltoall")
ENV(coll, COLL_REDUCE,    word, "auto", "", "", "auto|pull|split|doubling|ring|nodes: algorithm of reductions")
ENV(coll, COLL_SCAN,      word, "auto", "", "", "auto|pull|doubling: algorithm of scans")
ENV(api,  CHECK_ALLOC,    int,  "64", "0", "2147483647", "so many first allocation calls compare their arguments across PEs")
ENV(oshrun, LAUNCHER,     text, "", "", "", "command that oshrun runs in its place; OSHRUN_LAUNCHER comes first")
ENV(oshcc, CC,            text, "", "", "", "C compiler that oshcc runs; OSH_CC comes first")
ENV(oshcc, CXX,           text, "", "", "", "C++ compiler that oshc++ runs; OSH_CXX comes first")
