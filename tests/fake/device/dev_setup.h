/* SPDX-License-Identifier: BSD-3-Clause */
/* dev_setup.h - the environment of a device in software:
 *   FAKE_DEVICE=discrete   the processor dies where it touches device memory
 *               coherent   it may touch it, and the device all host memory
 *               bare       as discrete, and no optional feature is there
 *   FAKE_DEVICE_COUNT=N    devices, 1 unless set; 0: none
 *   FAKE_DEVICE_FIRST=N    of the machine's, they are those from N on: the
 *                          others are hidden
 *   FAKE_DEVICE_VISIBLE=one   each process of a job sees one of them: PE i of
 *                          it the one of number i, counted around
 *   FAKE_DEVICE_HIDDEN=refused   memory of a device that is hidden is not
 *                          mapped; unset, it is, as of any other
 *   FAKE_DEVICE_PARTS=1    they are parts of one card
 *   FAKE_DEVICE_PEERS=copy   devices reach each other's memory, but not with
 *                            atomics: a kernel that tries fails
 *                     none   they do not
 *   FAKE_DEVICE_BAR=B      bytes that another device maps of one, at most
 *   FAKE_DEVICE_MEMORY=B   bytes of each, 1 GiB unless set
 *   FAKE_DEVICE_DRIVER=V   the driver's version, as its vendor counts
 *   FAKE_DEVICE_AGAIN=1    the handle of a stream that is gone serves another
 *   FAKE_DEVICE_QUEUES=N   streams of one priority share N queues: a command
 *                          that waits holds up the other streams of its
 *                          queue; 0: each stream has one.  Unset, it is as the
 *                          vendor has it: 4 for HIP, one each for CUDA
 *   FAKE_DEVICE_WAITS=processor   the command processor waits for any word,
 *                          and no kernel does
 *                     kernel   (unset) as the vendor has it: HIP's waits and
 *                          writes of words are kernels, and so are CUDA's
 *                          where it is bare.  A kernel that waits keeps its
 *                          queue, and other processes' kernels off the device
 *   FAKE_DEVICE_COARSE=coherent   a kernel that polls coarse-grained memory
 *                          sees what others store there
 *                      stale   (unset) it sees what it did at its start, and
 *                          what kernels of its device have stored since
 *   FAKE_DEVICE_COPIES=done   a copy from pageable memory to the device's, and a
 *                          fill of that, have ended when their call returns
 *                      late   (unset) of CUDA they end when the default stream
 *                          is waited for or gets more to do, or after about a
 *                          second, but for memory with SYNC_MEMOPS
 *   FAKE_DEVICE_NIC=ordered   the device sees what a NIC stores in its memory
 *                          and says so; unset, it does where it is coherent
 *                   late   (unset, where it is discrete) it does after a flush
 *                          by the driver's call, a wait that flushes, or the
 *                          register, and never else
 *                   read   the same, but no driver's call does: a NIC's read
 *                          of that memory does
 *   FAKE_DEVICE_VMM=0      no reservations of addresses and pieces of memory to
 *                          map there; unset, there are, but where it is bare
 *                   nordma no NIC may have such memory
 *   FAKE_DEVICE_FABRIC=1   such a piece has a handle of bytes, for processes of
 *                          other machines, too; unset, it has none
 *                      refused   the device says so, and the process may not
 *   FAKE_DEVICE_RANGE=reserved   an attribute of an address there is that of the
 *                          whole reservation, as cuda.h has it; unset, of the
 *                          one mapping
 *   FAKE_DEVICE_PER_THREAD=any   the library's own threads, which block all
 *                          signals, may use their per-thread stream, which no
 *                          other thread can mean; unset, one dies there
 *   FAKE_DEVICE_LOG=FILE   gets a line "PID CALL" for each call, and
 *                          "PID CALL WORDS" for what the stand-in adds, such
 *                          as "PID spin CALL" for a kernel that waits
 *   FAKE_DEVICE_KERNELS=FILE   a library that has kernels of the program
 *   FAKE_DEVICE_FAIL=CALL:CODE   that call fails with the vendor's code
 *   FAKE_DEVICE_DEAD=error   a call with the handle of a destroyed stream is
 *                          refused; unset, it ends the program where the
 *                          vendor leaves it undefined */
#ifndef FAKE_DEV_SETUP_H
#define FAKE_DEV_SETUP_H

#include <stdbool.h>
#include <stddef.h>

enum dev_personality { DEV_DISCRETE, DEV_COHERENT, DEV_BARE };

enum dev_fabric { DEV_NO_FABRIC, DEV_FABRIC, DEV_FABRIC_REFUSED };

enum dev_peers { DEV_ATOMICS, DEV_COPY, DEV_NO_PEERS };

struct dev_setup {
    enum dev_personality is;
    int count, first, driver;   /* driver 0: not set */
    int machine;                /* devices, hidden ones, too, as far as known */
    int queues;                 /* -1: not set */
    bool waits;                 /* the command processor does */
    bool coherent;              /* so is coarse-grained memory */
    bool done;                  /* copies of pageable memory are */
    bool ordered, flush, by_read;       /* NICs' stores: seen in order; need a
                                         * flush, by a NIC's read */
    bool again, dead;
    bool vmm, vmm_nic;          /* pieces of memory; for NICs */
    enum dev_fabric fabric;
    bool reserved;              /* the range of an address is */
    bool parts, any_thread, refuses;    /* refuses hidden ones */
    enum dev_peers peers;
    size_t memory, bar;
};
const struct dev_setup *dev_setup(void);
/* The machine's number of a device of this process. */
int dev_number(int device);

#endif
