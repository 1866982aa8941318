/* SPDX-License-Identifier: BSD-3-Clause */
/* api_env.h - the checks of variables whose text has a format of its own, for
 * the start of the library and for shmem_info, which links it alone. */
#ifndef API_API_ENV_H
#define API_API_ENV_H

/* After env_load(), before the layers open: 0, or the first error, logged. */
int api_env_check(void);

#endif
