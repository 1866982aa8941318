/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: output of the PEs keeps its bytes and whole lines however it is
 * cut into reads, and lines of the library that many PEs say come once. */
#include "unit.h"

/* The launcher is no library: its files are compiled in here. */
#include "../../tools/oshrun/say.c"
#include "../../tools/oshrun/stream.c"
#define parse merge_parse
#include "../../tools/oshrun/merge.c"
#undef parse

enum { PES = 12 };

static struct sink sink;
static struct source pe[PES];
static int in[PES];             /* what the PEs write to */

/* Everything the sink holds, taken out of it. */
static const char *printed(void)
{
    static char text[1 << 20];
    size_t n = sink_waiting(&sink);

    if (!T_LT(n, sizeof text))
        n = 0;
    memcpy(text, sink.data + sink.head, n);
    text[n] = '\0';
    sink.head = sink.tail = 0;
    return text;
}

static void open_all(struct merge *m, bool tag)
{
    int ends[2];

    memset(&sink, 0, sizeof sink);
    sink.fd = -1;
    sink_put(&sink, "x", 1);    /* so that data is there */
    printed();
    for (int i = 0; i < PES; i++) {
        T_EQ(pipe(ends), 0);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        pe[i] = (struct source){
            .fd = ends[0], .pe = i, .tag = tag, .at_line_start = true,
            .sink = &sink, .merge = m, .is_error = true
        };
        in[i] = ends[1];
    }
}

static void close_all(struct merge *m)
{
    for (int i = 0; i < PES; i++) {
        close(in[i]);
        source_close(&pe[i]);
    }
    free(sink.data);
    free(m);
}

static void writes(int i, const char *text)
{
    T_EQ(write(in[i], text, strlen(text)), (ssize_t)strlen(text));
    while (source_read(&pe[i]))
        ;
}

T(lines_of_several_pes_stay_whole)
{
    open_all(NULL, false);
    writes(0, "one ");
    writes(1, "two\nthr");
    T_STR(printed(), "two\n");
    writes(0, "half\n");
    writes(1, "ee\n");
    T_STR(printed(), "one half\nthree\n");
    writes(2, "a\nb\nc");
    T_STR(printed(), "a\nb\n");
    T_EQ(source_due(&pe[2]), INT64_MAX);    /* no terminal: no hurry */
    close_all(NULL);
}

T(tags_begin_each_line)
{
    open_all(NULL, true);
    writes(3, "a\n\nb");
    writes(11, "c\n");
    writes(3, "c\n");
    T_STR(printed(), "[3] a\n[3] \n[11] c\n[3] bc\n");
    close_all(NULL);
}

T(the_last_line_may_lack_its_end)
{
    open_all(NULL, false);
    writes(0, "tail");
    T_STR(printed(), "");
    source_close(&pe[0]);
    T_STR(printed(), "tail");
    writes(1, "next\n");        /* begins a line of its own */
    T_STR(printed(), "\nnext\n");
    close_all(NULL);
}

/* Random text in random pieces: every byte comes out, in order. */
T(no_byte_is_lost_or_moved)
{
    enum { BYTES = 300000 };
    static char sent[BYTES + 1];
    size_t at = 0, n;

    for (int tag = 0; tag < 2; tag++) {
        char *want = malloc(2 * BYTES), *w = want;

        open_all(NULL, tag);
        for (int i = 0; i < BYTES; i++)     /* also lines of 100 KiB */
            sent[i] = T_RAND() % (i < BYTES / 2 ? 1000000 : 30)
                          ? (char)('a' + i % 26) : '\n';
        sent[BYTES - 1] = '\n';
        for (at = 0; at < BYTES; at += n) {
            n = 1 + T_RAND() % 50000;
            if (n > BYTES - at)
                n = BYTES - at;
            T_EQ(write(in[5], sent + at, n), (ssize_t)n);
            while (source_read(&pe[5]))
                ;
        }
        for (int i = 0; i < BYTES; i++) {
            if (tag && (i == 0 || sent[i - 1] == '\n'))
                w += sprintf(w, "[5] ");
            *w++ = sent[i];
        }
        *w = '\0';
        T_TRUE(!strcmp(printed(), want));
        free(want);
        close_all(NULL);
    }
}

/* A line without end goes out in pieces rather than fill the memory. */
T(endless_lines_go_out_in_pieces)
{
    static char much[LINE_MAX_BYTES + 1];
    const char *text;

    memset(much, 'm', LINE_MAX_BYTES);
    open_all(NULL, true);
    writes(3, "n");
    for (int i = 0; i < 3; i++) {
        writes(3, much);
        T_LE(pe[3].n_part, LINE_MAX_BYTES);
    }
    T_LE(2 * LINE_MAX_BYTES, sink_waiting(&sink));
    writes(3, "\n");
    text = printed();
    T_EQ(strlen(text), strlen("[3] n\n") + 3 * LINE_MAX_BYTES);
    T_TRUE(!strncmp(text, "[3] nmmm", 8) && !strchr(text + 8, '['));
    close_all(NULL);
}

T(a_prompt_reaches_a_terminal_soon)
{
    int64_t due;

    open_all(NULL, false);
    sink.tty = true;
    writes(0, "name? ");
    due = source_due(&pe[0]);
    T_LT(now_ms() - 1000, due);
    T_LE(due, now_ms() + TTY_MS);
    T_STR(printed(), "");
    source_flush(&pe[0]);
    T_STR(printed(), "name? ");
    T_EQ(source_due(&pe[0]), INT64_MAX);
    writes(1, "other\n");       /* on a terminal, on a line of its own */
    T_STR(printed(), "\nother\n");
    close_all(NULL);
}

/* ---- lines of the library ---- */

static void say_all(int from, int to, const char *rest)
{
    char line[256];

    for (int i = from; i < to; i++) {
        snprintf(line, sizeof line, "sluice: PE %d %s\n", i, rest);
        writes(i, line);
    }
}

T(what_many_say_is_printed_once)
{
    struct merge *m = merge_open(&sink, PES);

    open_all(m, false);
    say_all(0, 6, "(h): no room [S-E-HEAP]");
    say_all(7, 8, "(h): no room [S-E-HEAP]");
    T_STR(printed(), "");
    T_LT(merge_due(m), INT64_MAX);
    merge_flush(m, true);
    T_STR(printed(), "sluice: PE 0 (h): no room [S-E-HEAP] (and 6 other PEs: "
          "1-5,7)\n");
    T_EQ(merge_due(m), INT64_MAX);
    say_all(4, 5, "(h): odd [S-W-ENV]");
    say_all(3, 4, "(h): odd [S-W-ENV]");
    merge_flush(m, true);
    T_STR(printed(), "sluice: PE 3 (h): odd [S-W-ENV] (and 1 other PE: 4)\n");
    T_TRUE(pe[0].printed_error);
    T_TRUE(!pe[9].printed_error);
    close_all(m);
}

T(hosts_texts_and_repetitions_are_distinguished)
{
    struct merge *m = merge_open(&sink, PES);

    open_all(m, false);
    writes(0, "sluice: PE 0 (a): no room [S-E-HEAP]\n");
    writes(1, "sluice: PE 1 (b): no room [S-E-HEAP]\n");
    writes(2, "sluice: PE 2 (a): no rooms [S-E-HEAP]\n");
    writes(3, "sluice: PE 3 (a): no room [S-W-HEAP]\n");
    writes(0, "sluice: PE 0 (a): no room [S-E-HEAP]\n");    /* again */
    merge_flush(m, true);
    T_STR(printed(), "sluice: PE 0 (a): no room [S-E-HEAP]\n"
          "sluice: PE 1 (b): no room [S-E-HEAP]\n"
          "sluice: PE 2 (a): no rooms [S-E-HEAP]\n"
          "sluice: PE 3 (a): no room [S-W-HEAP]\n"
          "sluice: PE 0 (a): no room [S-E-HEAP]\n");
    close_all(m);
}

T(a_pe_that_does_not_know_its_number_is_named)
{
    struct merge *m = merge_open(&sink, PES);

    open_all(m, false);
    writes(4, "sluice: (h): bad value [S-E-ENV]\n");
    writes(2, "sluice: (h): bad value [S-E-ENV]\n");
    writes(1, "sluice: PE 6 (h): bad value [S-E-ENV]\n"); /* from a helper */
    merge_flush(m, true);
    T_STR(printed(), "sluice: PE 2 (h): bad value [S-E-ENV] (and 2 other PEs: "
          "4,6)\n");
    close_all(m);
}

T(addresses_may_differ)
{
    struct merge *m = merge_open(&sink, PES);

    open_all(m, false);
    writes(0, "sluice: PE 0 (h): 0x7f00 is not symmetric [S-E-ADDR]\n");
    writes(1, "sluice: PE 1 (h): 0x55aaee99 is not symmetric [S-E-ADDR]\n");
    writes(2, "sluice: PE 2 (h): 0xzz is not symmetric [S-E-ADDR]\n");
    writes(3, "sluice: PE 3 (h): 0x7f00 is not symmetrical [S-E-ADDR]\n");
    merge_flush(m, true);
    T_STR(printed(), "sluice: PE 0 (h): 0x7f00 is not symmetric [S-E-ADDR] "
          "(and 1 other PE: 1)\n"
          "sluice: PE 2 (h): 0xzz is not symmetric [S-E-ADDR]\n"
          "sluice: PE 3 (h): 0x7f00 is not symmetrical [S-E-ADDR]\n");
    writes(2, "sluice: PE 2 (h): bad 0x9f [S-E-ADDR]\n");
    writes(1, "sluice: PE 1 (h): bad 0x8 [S-E-ADDR]\n");
    writes(3, "sluice: PE 3 (h): bad 0x7 [S-E-ADDR] bad 0x7 [S-E-ADDR]\n");
    merge_flush(m, true);       /* the lowest PE's own address */
    T_STR(printed(), "sluice: PE 1 (h): bad 0x8 [S-E-ADDR] (and 1 other PE: "
          "2)\nsluice: PE 3 (h): bad 0x7 [S-E-ADDR] bad 0x7 [S-E-ADDR]\n");
    close_all(m);
}

/* What looks a little like such a line is a program's output. */
T(other_lines_pass_as_they_are)
{
    static const char *const lines[] = {
        "sluice: PE 3 (h): no code\n", "sluice: PE 99 (h): x [S-E-HEAP]\n",
        "sluice: PE 3 h: a word or two [S-E-HEAP]\n", "sluice:\n", "s\n", "\n",
        "sluice: PE 3 (h): a word or two [S-X-HEAP]\n",
        "sluice: PE 3 (h): a word or two []\n",
        "sluice: PE 3 (h): a word or two [S-]\n",
        "sluice: PE -1 (h): a word or two [S-E-HEAP]\n",
        "sluice: PE 99999999999999999999 (h): a word [S-E-HEAP]\n",
        "sluice: XY 3 (h): a word or two [S-E-HEAP]\n",
        "sluice: PE 3 (h): a word or two [S-E-HEAP] and more\n",
        "sluice: PE 3 (h): a word or two]\n", "sluice: ]]]]]]]]]]]]]]]]]]\n",
        "slice: PE 3 (h): a word or two [S-E-HEAP]\n",
    };
    struct merge *m = merge_open(&sink, PES);
    char *exact;

    open_all(m, false);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        writes(3, lines[i]);
        T_STR(printed(), lines[i]);
        /* Nothing behind the line is read: for the address sanitizer. */
        exact = malloc(strlen(lines[i]));
        memcpy(exact, lines[i], strlen(lines[i]));
        T_TRUE(!merge_take(m, 3, exact, strlen(lines[i])));
        free(exact);
    }
    T_EQ(merge_due(m), INT64_MAX);
    close_all(m);
}

T(the_oldest_goes_when_too_many_differ)
{
    struct merge *m = merge_open(&sink, PES);
    char line[128];

    open_all(m, false);
    for (int i = 0; i < MAX_PENDING + 3; i++) {
        snprintf(line, sizeof line, "sluice: PE 1 (h): line %d [S-E-PE]\n", i);
        writes(1, line);
    }
    T_STR(printed(), "sluice: PE 1 (h): line 0 [S-E-PE]\n"
          "sluice: PE 1 (h): line 1 [S-E-PE]\n"
          "sluice: PE 1 (h): line 2 [S-E-PE]\n");
    merge_flush(m, true);
    T_EQ(unit_lines(printed()), MAX_PENDING);
    close_all(m);
}

T(a_held_line_ends_the_unfinished_one_before_it)
{
    struct merge *m = merge_open(&sink, PES);

    open_all(m, false);
    writes(1, "half");
    source_close(&pe[1]);
    say_all(2, 3, "(h): no room [S-E-HEAP]");
    merge_flush(m, true);
    T_STR(printed(), "half\nsluice: PE 2 (h): no room [S-E-HEAP]\n");
    close_all(m);
}

T(lines_wait_only_so_long)
{
    struct merge *m = merge_open(&sink, PES);
    int64_t due;

    open_all(m, false);
    say_all(0, 2, "(h): no room [S-E-HEAP]");
    due = merge_due(m);
    T_LE(due, now_ms() + MERGE_MS);
    merge_flush(m, false);
    if (now_ms() < due)
        T_STR(printed(), "");
    while (now_ms() < due)
        usleep(10000);
    merge_flush(m, false);
    T_EQ(merge_due(m), INT64_MAX);
    close_all(m);
}

/* A line without a code stands behind the error of its PE; the program's own
 * lines and those of other PEs do not end the wait. */
T(lines_without_a_code_keep_their_place)
{
    struct merge *m = merge_open(&sink, PES);

    open_all(m, false);
    say_all(0, 2, "(h): no room [S-E-HEAP]");
    writes(0, "a word of the program\n");
    writes(3, "sluice: PE 3 (h): more\n");
    T_STR(printed(), "a word of the program\nsluice: PE 3 (h): more\n");
    writes(1, "sluice: PE 1 (h): more\n");
    T_STR(printed(), "sluice: PE 0 (h): no room [S-E-HEAP] (and 1 other PE: 1)\n"
                   "sluice: PE 1 (h): more\n");
    T_EQ(merge_due(m), INT64_MAX);
    close_all(m);
}

/* Behind the error; another place of the same function is another frame. */
T(frames_are_merged)
{
    struct merge *m = merge_open(&sink, PES);

    open_all(m, false);
    say_all(0, 3, "(h): no room [S-E-HEAP]");
    say_all(0, 2, "(h): #0 put (prog+0x10)");
    writes(2, "sluice: PE 2 (h): #0 put (prog+0x20)\n");
    say_all(0, 3, "(h): #1 main (prog+0x30)");
    T_STR(printed(), "");
    merge_flush(m, true);
    T_STR(printed(), "sluice: PE 0 (h): no room [S-E-HEAP] (and 2 other PEs: 1-2)\n"
                   "sluice: PE 0 (h): #0 put (prog+0x10) (and 1 other PE: 1)\n"
                   "sluice: PE 2 (h): #0 put (prog+0x20)\n"
                   "sluice: PE 0 (h): #1 main (prog+0x30) (and 2 other PEs: 1-2)\n");
    close_all(m);
}

/* One PE after the other: what its frames have before the common ones comes
 * before them. */
T(frames_stay_in_order)
{
    struct merge *m = merge_open(&sink, PES);

    open_all(m, false);
    writes(0, "sluice: PE 0 (h): #0 one (prog+0x10)\n");
    writes(0, "sluice: PE 0 (h): #1 main (prog+0x30)\n");
    writes(1, "sluice: PE 1 (h): #0 two (prog+0x20)\n");
    writes(1, "sluice: PE 1 (h): #1 main (prog+0x30)\n");
    writes(2, "sluice: PE 2 (h): #0 one (prog+0x10)\n");
    writes(2, "sluice: PE 2 (h): #1 main (prog+0x30)\n");
    merge_flush(m, true);
    T_STR(printed(), "sluice: PE 0 (h): #0 one (prog+0x10) (and 1 other PE: 2)\n"
                   "sluice: PE 0 (h): #1 main (prog+0x30) (and 1 other PE: 2)\n"
                   "sluice: PE 1 (h): #0 two (prog+0x20)\n"
                   "sluice: PE 1 (h): #1 main (prog+0x30)\n");
    close_all(m);
}

int main(void)
{
    T_RUN(lines_without_a_code_keep_their_place);
    T_RUN(frames_are_merged);
    T_RUN(frames_stay_in_order);
    T_RUN(lines_of_several_pes_stay_whole);
    T_RUN(tags_begin_each_line);
    T_RUN(the_last_line_may_lack_its_end);
    T_RUN(no_byte_is_lost_or_moved);
    T_RUN(endless_lines_go_out_in_pieces);
    T_RUN(a_prompt_reaches_a_terminal_soon);
    T_RUN(what_many_say_is_printed_once);
    T_RUN(hosts_texts_and_repetitions_are_distinguished);
    T_RUN(a_pe_that_does_not_know_its_number_is_named);
    T_RUN(addresses_may_differ);
    T_RUN(other_lines_pass_as_they_are);
    T_RUN(the_oldest_goes_when_too_many_differ);
    T_RUN(a_held_line_ends_the_unfinished_one_before_it);
    T_RUN(lines_wait_only_so_long);
    return T_DONE();
}
