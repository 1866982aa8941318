/* SPDX-License-Identifier: BSD-3-Clause */
/* A stand-in for AMD's run-time compiler: what it makes of a text is a word
 * by which the stand-in for HIP knows that it may run our kernels. */
#include "gtl/hip/hip_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(result, name, args) EXPORT result hiprtc##name args;
HIPRTC_CALLS(DECLARE)

enum { COMPILATION = 6, INVALID_INPUT = 3 };
static const char complaint[] = "sluice:1:1: error: as FAKE_HIPRTC says";

struct hip_program {
    char *text;
};

const char *hiprtcGetErrorString(unsigned error)
{
    return error == COMPILATION ? "HIPRTC_ERROR_COMPILATION"
                                : "HIPRTC_ERROR_INVALID_INPUT";
}

unsigned hiprtcCreateProgram(struct hip_program **out, const char *text,
                             const char *name, int n_headers,
                             const char **headers, const char **header_names)
{
    struct hip_program *p = malloc(sizeof *p);

    (void)name;
    (void)headers;
    (void)header_names;
    if (!p || n_headers)
        abort();
    p->text = strdup(text);
    *out = p;
    return 0;
}

static void keep(const char *text, const char *file)
{
    FILE *f = fopen(file, "w");

    if (!f || fputs(text, f) < 0 || fclose(f))
        perror("fake hiprtc: FAKE_HIP_SOURCE");
}

unsigned hiprtcCompileProgram(struct hip_program *p, int n_options,
                              const char **options)
{
    const char *file = getenv("FAKE_HIP_SOURCE");
    const char *fails = getenv("FAKE_HIPRTC");

    if (file && *file)
        keep(p->text, file);
    /* The library's reductions have the same bits as on the host only without
     * contraction. */
    if (strstr(p->text, "sluice_reduce") &&
        (n_options != 1 || strcmp(*options, "-ffp-contract=off")))
        return COMPILATION;
    return fails && *fails ? COMPILATION : 0;
}

unsigned hiprtcGetProgramLogSize(struct hip_program *p, size_t *out)
{
    (void)p;
    *out = sizeof complaint;
    return 0;
}

unsigned hiprtcGetProgramLog(struct hip_program *p, char *out)
{
    (void)p;
    memcpy(out, complaint, sizeof complaint);
    return 0;
}

unsigned hiprtcGetCodeSize(struct hip_program *p, size_t *out)
{
    (void)p;
    *out = 9;
    return 0;
}

unsigned hiprtcGetCode(struct hip_program *p, char *out)
{
    (void)p;
    memcpy(out, "FAKEHIP\0", 9);     /* it has no variable */
    return 0;
}

unsigned hiprtcDestroyProgram(struct hip_program **p)
{
    free((*p)->text);
    free(*p);
    *p = NULL;
    return 0;
}
