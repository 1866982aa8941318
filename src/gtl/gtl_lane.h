/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_lane.h - streams of the library's own for copies that are left behind. */
#ifndef GTL_GTL_LANE_H
#define GTL_GTL_LANE_H

/* Lanes are streams for what is left behind: begin() keeps other threads out
 * until end(), and finish() waits for all that was enqueued before it was
 * called.  finish() asks nothing of the driver where nothing is left. */
enum { GTL_LANES = 4 };
void *gtl_lane_begin(unsigned lane);
void gtl_lane_end(unsigned lane);
int gtl_lane_finish(unsigned lane);

#endif
