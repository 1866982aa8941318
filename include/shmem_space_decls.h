/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_space_decls.h - the prototypes of memory spaces, included by
 * shmem_space.h with SHMEMI_P(f) as f and as pf.  No include guard. */

/* Collective, like the calls of shmem_malloc(3): all PEs call with the same
 * arguments.  NULL: memory is exhausted, or the space is invalid. */
void *SHMEMI_P(shmem_space_malloc)(shmem_space_t space, size_t size);
void *SHMEMI_P(shmem_space_calloc)(shmem_space_t space, size_t count,
                                   size_t size);
void *SHMEMI_P(shmem_space_align)(shmem_space_t space, size_t alignment,
                                  size_t size);
/* Moves the content if ptr is in another space. */
void *SHMEMI_P(shmem_space_realloc)(shmem_space_t space, void *ptr,
                                    size_t size);
void SHMEMI_P(shmem_space_free)(shmem_space_t space, void *ptr);

/* Local.  0: the space is available.  The draft inverts the truth value; see
 * shmemx_space_usable. */
int SHMEMI_P(shmem_space_is_available)(shmem_space_t space);
int SHMEMI_P(shmemx_space_usable)(shmem_space_t space);
/* 1 if private device memory may be passed as a local buffer, else 0; also
 * stored in *enabled unless that is NULL. */
int SHMEMI_P(shmem_query_device_awareness)(int *enabled);
/* The space that contains the memory.  0, or -EINVAL. */
int SHMEMI_P(shmem_get_space)(void *ptr, shmem_space_t *space);
/* The space with which the team was created, or the default space. */
int SHMEMI_P(shmem_team_get_space)(shmem_team_t team, shmem_space_t *space);
/* shmem_ptr, if dest is in that space. */
void *SHMEMI_P(shmem_space_ptr)(shmem_space_t space, const void *dest, int pe);
/* The address at which kernels of this PE's device access dest on that PE, or
 * NULL; shmem_ptr returns an address for the processor. */
void *SHMEMI_P(shmemx_device_ptr)(const void *dest, int pe);

/* Collective over all PEs.  0, -EINVAL, -ENODEV or -ENOMEM, the same on all. */
int SHMEMI_P(shmem_space_create)(const shmem_space_config_t *config,
                                 shmem_space_t *space, shmem_team_t *team);
/* Frees its blocks.  -EBUSY on all PEs while a team of the space exists. */
int SHMEMI_P(shmem_space_destroy)(shmem_space_t space);
int SHMEMI_P(shmem_space_get_team)(shmem_space_t space, shmem_team_t *team);
int SHMEMI_P(shmem_space_get_device_type)(shmem_space_t space,
                                          shmem_device_type_t *type);
int SHMEMI_P(shmem_space_get_caps)(shmem_space_t space,
                                   shmem_space_cap_t *caps);

/* The values of the names SHMEM_SPACE_... and SHMEM_TEAM_... */
shmem_space_t SHMEMI_P(shmemx_space_predefined)(int which);
shmem_team_t SHMEMI_P(shmemx_space_team)(shmem_space_t space);
