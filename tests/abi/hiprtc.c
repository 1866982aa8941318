/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what src/gtl/hip/hip_abi.h says of AMD's run-time compiler is what
 * its header says.  Compiled, never run: scripts/abi-check. */
#define __HIP_PLATFORM_AMD__
#include <hip/hiprtc.h>

#include "gtl/hip/hip_abi.h"

/* From here on our tag stands for its type. */
#define hip_program _hiprtcProgram

#define SAME(result, name, args) \
    _Static_assert(__builtin_types_compatible_p(result (*)args, \
                                                __typeof__(&hiprtc##name)), \
                   "hiprtc" #name " is declared otherwise");

HIPRTC_CALLS(SAME)
