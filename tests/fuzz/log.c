/* SPDX-License-Identifier: BSD-3-Clause */
/* SHMEM_LOG, and a line that holds whatever a user passed. */
#include "fuzz.h"

#include "base/env.h"
#include "base/log.h"

extern char **environ;

void fuzz_one(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *line = malloc(size + 16);
    char *table[] = { line, NULL }, **was = environ;

    if (!line)
        abort();
    sprintf(line, "SHMEM_LOG=%s", text);
    environ = table;
    (void)env_load();
    environ = was;
    log_identify(3, text);
    log_error(ERR_ENV, "%s", text);
    log_info(LOG_RT, "%s", text);
    log_choose(LOG_WARN, ~0u);
    log_identify(-1, "host");
    free(line);
    free(text);
}
