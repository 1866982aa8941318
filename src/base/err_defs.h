/* SPDX-License-Identifier: BSD-3-Clause */
/* err_defs.h - every code that ends an error line, once.
 * ERR(NAME, the meaning, the remedy).  Errors print as [S-E-NAME],
 * warnings as [S-W-NAME].  log.c and shmem_errors(7) expand this list; it has
 * no include guard. */
ERR(PE, "a PE number is outside the team or the job",
    "pass a PE from 0 to shmem_n_pes() - 1 (team-relative with a context)")
ERR(ADDR, "an address is not symmetric, or not mapped, or an access runs past "
    "its segment",
    "use static data of the main program, or memory from shmem_malloc or "
    "shmem_space_malloc")
ERR(NULL, "a null pointer was passed with a nonzero length",
    "pass a valid pointer, or length 0")
ERR(SIZE, "a message is longer than its receive, or a count times its element "
    "size exceeds the address space",
    "make both ends of a message agree; pass a smaller count")
ERR(ALIGN, "an atomic or a signal is not naturally aligned",
    "align the variable to its own size")
ERR(ARG, "an argument has a value that the call does not define, or a call "
    "comes before one that it needs",
    "see the line, and the man page of the call")
ERR(STATE, "the library is not initialised, or already finalised",
    "call shmem_init first, and one finalize for each init; for a kernel, fill "
    "its state by shmemx_dev_get first")
ERR(FORK, "a forked child called the library, or a static program forked",
    "communicate from the parent only, or use posix_spawn or exec")
ERR(ENV, "an environment variable has a bad value, or is unknown",
    "see shmem_env(7) or run with SHMEM_INFO=1")
ERR(HEAP, "the symmetric heap cannot be created, or is full",
    "set SHMEM_SYMMETRIC_SIZE; see shmem_malloc(3)")
ERR(HEAPARG, "PEs passed different arguments to one allocation call",
    "make every PE allocate the same sizes in the same order")
ERR(FREE, "a freed address is no allocated block, or requests still use it",
    "free each block of shmem_malloc once, and requests before their buffers")
ERR(CORRUPT,
    "the library's own variables in symmetric memory were overwritten",
    "look for a put or a store past the end of its block")
ERR(OVERRUN, "bytes beside a block of the symmetric heap were overwritten",
    "look for stores and puts past the end of the block that the line names")
ERR(DEVICE, "the device cannot be used, or an operation on it failed",
    "see the cause in the line; shmem_info --check tests each step")
ERR(DATA, "static data cannot be made symmetric",
    "run the same executable on every PE, or set SHMEM_STATIC_DATA=0")
ERR(PMI, "the launcher does not provide start-up information",
    "start with oshrun, srun --mpi=pmix, prterun or mpirun")
ERR(NODE, "the PEs of one node cannot connect their memory",
    "see the cause in the line; shmem_info --check tests each step")
ERR(NET, "the network between nodes cannot be opened, or a PE is lost",
    "see the cause in the line; SHMEM_LOG=info:ofi says what was tried")
ERR(STALL, "a wait lasts longer than SHMEM_STALL seconds",
    "see the activity of the PEs that the line names; kill -USR2 of oshrun "
    "requests a report from all of them")
ERR(LIMIT, "a limit of the system or of the container is too low",
    "raise the limit that the line names")
ERR(CTX, "a context is invalid or used against its options",
    "create it with shmem_ctx_create and follow its options")
ERR(STREAM, "an operation on a stream was refused, has failed, or was never "
    "completed",
    "see the cause in the line; shmemx_on_stream(7) has the rules")
ERR(TEAM, "a team is invalid, lacks memory or is used against its rules",
    "pass a team of which the PE is a member; see shmem_team_split_strided(3)")
ERR(COLL, "the members of a team make different collective calls",
    "make every member call the same collectives in the same order")
ERR(LOCK, "a lock is used against its rules",
    "clear a lock only where it was set, and do not set it twice")
ERR(EXIT, "a PE ended without shmem_finalize; as a warning: it returned from main or "
    "called exit(0), and the library has finalized in its place",
    "call shmem_finalize once for each shmem_init")
ERR(FAULT, "a site failed because SHMEM_FAULT requested it",
    "unset SHMEM_FAULT")
ERR(TRACE, "a PE cannot be traced, or traces cannot be merged",
    "name a file in a directory with room, which all nodes share; see "
    "shmem_trace(7)")
ERR(STATS, "the statistics of calls cannot be collected or written",
    "name a file in a directory where PE 0 may write; see shmem_stats(7)")
ERR(PEDIED, "a PE was killed or failed; oshrun ends the others",
    "look at that PE's own messages")
ERR(TIMEOUT, "the job ran longer than oshrun --timeout allows",
    "raise --timeout; SHMEM_CHECK=1 finds collective calls that do not match")
