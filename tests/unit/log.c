/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: lines of the log are whole, name who speaks, end with their
 * code however long they are, and leave errno alone. */
#include "unit.h"

#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

T(who_speaks_is_named_once_it_is_known)
{
    char host[256], expect[800];

    gethostname(host, sizeof host);
    unit_capture();
    log_error(ERR_PE, "PE %d is outside 0..%d", 9, 3);
    log_line(LOG_HEAP, "early");
    log_identify(3, "node7");
    log_error(ERR_PE, "PE %d is outside 0..%d", 9, 3);
    log_warn(ERR_ENV, "odd");
    log_print("%d done", 7);
    log_line(LOG_CORE, "late %s", "words");
    snprintf(expect, sizeof expect,
             "sluice: (%s): PE 9 is outside 0..3 [S-E-PE]\n"
             "[- %s heap] early\n"
             "sluice: PE 3 (node7): PE 9 is outside 0..3 [S-E-PE]\n"
             "sluice: PE 3 (node7): odd [S-W-ENV]\n"
             "sluice: PE 3 (node7): 7 done\n"
             "[3 node7 core] late words\n", host, host);
    T_STR(unit_captured(), expect);
    T_STR(log_host(), "node7");
}

T(an_argument_cannot_break_the_line)
{
    unit_capture();
    log_error(ERR_ENV, "SHMEM_PPN is \"%s\"", "1\n2\t\33[m");
    T_HAS(unit_captured(), "SHMEM_PPN is \"1?2??[m\" [S-E-ENV]\n");
}

T(each_code_has_its_name_and_words)
{
    char expect[64];

    for (int c = 0; c < ERR_CODES; c++) {
        unit_capture();
        log_error((enum err_code)c, "x");
        snprintf(expect, sizeof expect, ": x [S-E-%s]\n", err_texts[c].name);
        T_HAS(unit_captured(), expect);
        T_NE(err_texts[c].what[0], '\0');
        T_NE(err_texts[c].cure[0], '\0');
    }
}

T(a_long_text_gives_way_to_its_code)
{
    static char big[5000];
    const char *text;
    size_t last = 0;

    memset(big, 'x', sizeof big - 1);
    /* Around the limit each length counts. */
    for (size_t n = 900; n < 1100; n++) {
        unit_capture();
        log_error(ERR_HEAPARG, "%.*s", (int)n, big);
        text = unit_captured();
        T_HAS(text, "x [S-E-HEAPARG]\n");
        T_EQ(unit_lines(text), 1);
        T_LE(strlen(text), 1024);
        T_LE(last, strlen(text));
        last = strlen(text);
    }
    unit_capture();
    log_error(ERR_HEAPARG, "%s", big);
    T_EQ(strlen(unit_captured()), last);
    unit_capture();
    log_line(LOG_API, "%s", big);
    text = unit_captured();
    T_EQ(unit_lines(text), 1);
    T_LE(strlen(text), 1024);
    T_LT(1000, strlen(text));
}

T(errno_can_be_printed_and_survives)
{
    int after_error, after_line;

    unit_capture();
    errno = ENOSPC;
    log_error(ERR_HEAP, "no layer: %m");
    after_error = errno;
    errno = ENOSPC;
    log_line(LOG_HEAP, "still: %m");
    after_line = errno;
    T_EQ(unit_lines(unit_captured()), 2);
    T_HAS(unit_state.text, "no layer: No space left on device [S-E-HEAP]\n");
    T_HAS(unit_state.text, "still: No space left on device\n");
    T_EQ(after_error, ENOSPC);
    T_EQ(after_line, ENOSPC);
}

T(levels_and_layers_choose_what_is_shown)
{
    log_choose(LOG_WARN, ~0u);
    unit_capture();
    log_info(LOG_HEAP, "hidden");
    log_error(ERR_HEAP, "shown");
    T_EQ(unit_lines(unit_captured()), 1);
    log_choose(LOG_INFO, 1u << LOG_SM);
    unit_capture();
    log_info(LOG_SM, "a");
    log_debug(LOG_SM, "hidden");
    log_info(LOG_HEAP, "hidden");
    log_warn(ERR_HEAP, "b");    /* warnings have no layer */
    T_EQ(unit_lines(unit_captured()), 2);
    for (int r = 0; r < LOG_LAYERS; r++)
        T_EQ(log_on(LOG_INFO, (enum log_layer)r), r == LOG_SM);
    log_choose(LOG_TRACE, ~0u);
    T_TRUE(log_on(LOG_TRACE, LOG_LAYERS - 1));
    log_choose(LOG_ERROR, ~0u);
    unit_capture();
    log_warn(ERR_HEAP, "a warning is always shown");
    T_EQ(unit_lines(unit_captured()), 1);
    log_choose(LOG_WARN, ~0u);
}

T(layers_have_names)
{
    T_EQ(log_layer_index("base"), LOG_BASE);
    T_EQ(log_layer_index("api"), LOG_API);
    T_EQ(log_layer_index("stream"), LOG_STREAM);
    T_EQ(log_layer_index("kitchen"), -1);
    T_EQ(log_layer_index(""), -1);
    T_EQ(log_layer_index("ap"), -1);
}

enum { THREADS = 4, LINES = 500, WIDTH = 200 };

static void *talk(void *arg)
{
    char words[WIDTH + 1];

    memset(words, *(char *)arg, WIDTH);
    words[WIDTH] = '\0';
    for (int i = 0; i < LINES; i++)
        log_warn(ERR_ENV, "%s", words);
    return NULL;
}

/* Into a pipe, where two writes of a line would be torn apart. */
T(lines_of_several_threads_do_not_mix)
{
    pthread_t thread[THREADS];
    char letters[] = "abcd", line[512];
    int ends[2], counts[THREADS] = { 0 }, torn = 0;
    pid_t child;
    FILE *in;

    fflush(stderr);
    T_EQ(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        for (int i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, talk, &letters[i]);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
        _exit(0);
    }
    close(ends[1]);
    in = fdopen(ends[0], "r");
    while (fgets(line, sizeof line, in)) {
        char *text = strstr(line, "sluice: PE 3 (node7): ") == line
                         ? strstr(line, "): ") + 3 : line;
        char letter[2] = { *text };
        int who = *text - 'a';

        if (who >= 0 && who < THREADS && strspn(text, letter) == WIDTH &&
            !strcmp(text + WIDTH, " [S-W-ENV]\n"))
            counts[who]++;
        else
            torn++;
    }
    fclose(in);
    T_EQ(waitpid(child, NULL, 0), child);
    T_EQ(torn, 0);
    for (int i = 0; i < THREADS; i++)
        T_EQ(counts[i], LINES);
}

T(sizes_are_printed_in_a_fitting_unit)
{
    char buf[24];

    T_STR(log_size(buf, 0), "0 B");
    T_STR(log_size(buf, 1023), "1023 B");
    T_STR(log_size(buf, 1024), "1.0 KiB");
    T_STR(log_size(buf, 1536), "1.5 KiB");
    T_STR(log_size(buf, 12800), "12.5 KiB");
    T_STR(log_size(buf, 102400), "100 KiB");
    T_STR(log_size(buf, 1610612736), "1.5 GiB");
    T_STR(log_size(buf, (unsigned long long)512 << 20), "512 MiB");
    T_STR(log_size(buf, (unsigned long long)3 << 40), "3.0 TiB");
    T_STR(log_size(buf, (double)UINT64_MAX), "16384 PiB");
}

int main(void)
{
    T_RUN(who_speaks_is_named_once_it_is_known);
    T_RUN(an_argument_cannot_break_the_line);
    T_RUN(each_code_has_its_name_and_words);
    T_RUN(a_long_text_gives_way_to_its_code);
    T_RUN(errno_can_be_printed_and_survives);
    T_RUN(levels_and_layers_choose_what_is_shown);
    T_RUN(layers_have_names);
    T_RUN(lines_of_several_threads_do_not_mix);
    T_RUN(sizes_are_printed_in_a_fitting_unit);
    return T_DONE();
}
