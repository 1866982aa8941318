/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: an fcollect and a reduction of 2^31 + 8 bytes.
 * PEs: 2
 * Env: SHMEM_SYMMETRIC_SIZE=3300M
 * Timeout: 120 */
#include "../t.h"

#include <shmem.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW true
#else
#define SLOW false
#endif

static const size_t most = ((size_t)1 << 31) + 8;
static unsigned char *source, *dest;

/* Places that an offset cut to 31 or 32 bits would mix up. */
static const size_t places[] = {
    0, 7, 8, 1 << 20, ((size_t)1 << 30) + 3, ((size_t)1 << 30) + 4,
    ((size_t)1 << 31) - 1, (size_t)1 << 31, ((size_t)1 << 31) + 7
};
enum { PLACES = sizeof places / sizeof *places };

static unsigned char mark(int pe, int i)
{
    return (unsigned char)(17 * pe + i + 1);
}

/* Two halves of 2^30 + 4. */
T(fcollect)
{
    size_t half = most / 2;

    for (int i = 0; i < PLACES; i++)
        if (places[i] < half)
            source[places[i]] = mark(shmem_my_pe(), i);
    T_EQ(shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, half), 0);
    for (int i = 0; i < PLACES; i++)
        if (places[i] < half) {
            T_EQ(dest[places[i]], mark(0, i));
            T_EQ(dest[half + places[i]], mark(1, i));
        }
    shmem_sync_all();
}

/* In place, in the pages that are there. */
T(reduce)
{
    for (int i = 0; i < PLACES; i++)
        dest[places[i]] = mark(shmem_my_pe(), i);
    shmem_sync_all();
    T_EQ(shmem_uchar_sum_reduce(SHMEM_TEAM_WORLD, dest, dest, most), 0);
    for (int i = 0; i < PLACES; i++)
        T_EQ(dest[places[i]],
             (unsigned char)(mark(0, i) + mark(1, i)));
    shmem_sync_all();
}

static bool enough_memory(void)
{
    FILE *f = fopen("/proc/meminfo", "r");
    unsigned long long kib = 0;
    char line[128];

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib >> 20 >= 8;
}

T(big)
{
    T_TRUE((source = shmem_malloc(most / 2)) != NULL);
    T_TRUE((dest = shmem_malloc(most)) != NULL);
    if (!source || !dest)
        return;
    fcollect();
    reduce();
}

int main(void)
{
    if (SLOW || !enough_memory()) {     /* else the heap is refused */
        printf("skip: wants 8 GiB of memory and no sanitizer\n");
        return 77;
    }
    shmem_init();
    T_PE(shmem_my_pe());
    T_RUN(big);
    shmem_finalize();
    return T_DONE();
}
