/* SPDX-License-Identifier: BSD-3-Clause */
/* A stand-in for NVIDIA's run-time compiler: what it makes of a text is PTX
 * with a word by which the stand-in for CUDA knows that it may look for the
 * program's kernels.
 *   FAKE_NVRTC=fails   it does not compile */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { COMPILATION = 6, INVALID_OPTION = 5 };
static const char complaint[] = "sort(1): error: as FAKE_NVRTC says\nand more";

struct program {
    char *text;
    int sm;
};

#define CALL(name, args) EXPORT int name args; int name args
EXPORT const char *nvrtcGetErrorString(int error);

const char *nvrtcGetErrorString(int error)
{
    return error == COMPILATION ? "NVRTC_ERROR_COMPILATION"
                                : "NVRTC_ERROR_INVALID_OPTION";
}

CALL(nvrtcCreateProgram, (struct program **out, const char *text,
                          const char *name, int n_headers,
                          const char *const *headers,
                          const char *const *header_names))
{
    struct program *p = malloc(sizeof *p);

    (void)name;
    (void)headers;
    (void)header_names;
    if (!p || n_headers || !strstr(text, "global"))
        abort();
    p->text = strdup(text);
    *out = p;
    return 0;
}

CALL(nvrtcCompileProgram, (struct program *p, int n,
                           const char *const *options))
{
    const char *fails = getenv("FAKE_NVRTC");

    if (n != 1 || sscanf(options[0], "--gpu-architecture=compute_%d",
                         &p->sm) != 1 || p->sm < 50)
        return INVALID_OPTION;
    return fails && *fails ? COMPILATION : 0;
}

CALL(nvrtcGetProgramLogSize, (struct program *p, size_t *out))
{
    (void)p;
    *out = sizeof complaint;
    return 0;
}

CALL(nvrtcGetProgramLog, (struct program *p, char *out))
{
    (void)p;
    memcpy(out, complaint, sizeof complaint);
    return 0;
}

static const char code[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n// fake nvrtc\n";

CALL(nvrtcGetPTXSize, (struct program *p, size_t *out))
{
    (void)p;
    *out = sizeof code;
    return 0;
}

CALL(nvrtcGetPTX, (struct program *p, char *out))
{
    (void)p;
    memcpy(out, code, sizeof code);
    return 0;
}

CALL(nvrtcDestroyProgram, (struct program **p))
{
    free((*p)->text);
    free(*p);
    *p = NULL;
    return 0;
}
