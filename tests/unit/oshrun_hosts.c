/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: oshrun reads host lists and host files of all spellings, names
 * the bad line, and knows its own host; lists of PEs are short. */
#include "unit.h"

/* The launcher is no library: its files are compiled in here. */
#include "../../tools/oshrun/say.c"
#include "../../tools/oshrun/hosts.c"

#include <sys/wait.h>

static char path[] = "/tmp/unit_hosts_XXXXXX";

/* "name:slots name:slots ..." of what was read. */
static const char *printed(const struct opts *o)
{
    static char text[1024];
    struct host *h = NULL;
    size_t at = 0;
    int n = hosts_read(o, &h);

    text[0] = '\0';
    for (int i = 0; i < n; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s:%d",
                               i ? " " : "", h[i].name, h[i].slots);
        free(h[i].name);
    }
    free(h);
    return text;
}

static const char *list(const char *text)
{
    return printed(&(struct opts){ .hosts = text });
}

static const char *file(const char *text)
{
    FILE *f = fopen(path, "w");

    fputs(text, f);
    fclose(f);
    return printed(&(struct opts){ .hostfile = path });
}

/* What is said when that ends the process; NULL if it does not. */
static const char *refusal(const char *(*read)(const char *), const char *text)
{
    int status = -1;
    pid_t pid;

    unit_capture();
    pid = fork();
    if (pid == 0) {
        read(text);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    unit_captured();
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE)
        return unit_state.text;
    fprintf(stderr, "status %#x for \"%s\"\n", (unsigned)status, text);
    return "";
}

T(lists_have_names_slots_and_addresses)
{
    T_STR(list("a"), "a:1");
    T_STR(list("a,b"), "a:1 b:1");
    T_STR(list("a:4,b:2,a"), "a:4 b:2 a:1");
    T_STR(list("node7.example.org:12"), "node7.example.org:12");
    T_STR(list("10.0.0.7:3"), "10.0.0.7:3");
    T_STR(list("[fe80::1]:3"), "fe80::1:3");
    T_STR(list("[fe80::1]"), "fe80::1:1");
    T_STR(list("fe80::1,b:2"), "fe80::1:1 b:2");
    T_STR(list("a:0004"), "a:4");
    T_STR(list("a:9999999"), "a:9999999");
}

T(bad_lists_are_reported)
{
    static const char *const bad[] = {
        "", ",", "a,", ",a", "a,,b", ":", ":4", "a:", "a:0", "a:x", "a:-1",
        "a:1x", "a: 1", "a:99999999", "[fe80::1", "[]", "[]:3", "[::1]3",
        "[::1]:", "[::1]:x", "[::1]x3",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        T_HAS(refusal(list, bad[i]), "oshrun: host list: '");
        T_HAS(unit_state.text, "' is neither HOST nor HOST:N [S-E-HOSTS]\n");
        T_EQ(unit_lines(unit_state.text), 1);
    }
    T_HAS(refusal(list, "good:2,b:x,c"), "'b:x'");
}

T(files_are_read_in_the_forms_of_other_launchers)
{
    T_STR(file("a\nb\n"), "a:1 b:1");
    T_STR(file("a:4\nb slots=2\n"), "a:4 b:2");
    T_STR(file("# all of them\n\n  a\tslots=3  # fast\n   \nb:2#slow\n"),
          "a:3 b:2");
    T_STR(file("a slots=4 max_slots=8\nb max-slots=2\nc sl=3\n"),
          "a:4 b:1 c:1");
    T_STR(file("a\r\nb slots=2\r\n"), "a:1 b:2");
    T_STR(file("last_line_without_end:7"), "last_line_without_end:7");
    T_STR(file("[::1]:2\n::1\n"), "::1:2 ::1:1");
}

T(bad_lines_of_a_file_are_reported_by_number)
{
    static const char *const bad[] = {
        "ok\n# c\na b\n", "ok\n\na slots=x\n", "ok\n\na slots=0\n",
        "ok\n\na slots=\n", "ok\n\na:x\n", "ok\n\n:3\n", "ok\n\na slots=2 b\n"
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        T_HAS(refusal(file, bad[i]), ", line 3: neither HOST, HOST:N nor HOST "
              "slots=N [S-E-HOSTS]\n");
    T_HAS(refusal(file, ""), " names no host [S-E-HOSTS]\n");
    T_HAS(refusal(file, "# none\n\n"), " names no host [S-E-HOSTS]\n");
}

static const char *absent(const char *text)
{
    return printed(&(struct opts){ .hostfile = text });
}

static const char *both(const char *text)
{
    return printed(&(struct opts){ .hosts = text, .hostfile = path });
}

T(a_file_that_is_not_there_and_two_sources_are_refused)
{
    T_HAS(refusal(absent, "/nonexistent/hosts"), "oshrun: host file "
          "/nonexistent/hosts: No such file or directory [S-E-HOSTS]\n");
    T_HAS(refusal(absent, "/tmp"), "host file /tmp: Is a directory");
    T_HAS(refusal(both, "a"), "give one of the two [S-E-ARGS]\n");
    T_EQ(hosts_read(&(struct opts){ 0 }, &(struct host *){ NULL }), 0);
}

T(this_host_is_known_by_its_names)
{
    char here[256], longer[300];

    host_name(here, sizeof here);
    T_TRUE(host_is_local("localhost"));
    T_TRUE(host_is_local("LocalHost"));
    T_TRUE(host_is_local("127.0.0.1"));
    T_TRUE(host_is_local("127.3.2.1"));
    T_TRUE(host_is_local("::1"));
    T_TRUE(host_is_local(here));
    here[strcspn(here, ".")] = '\0';
    T_TRUE(host_is_local(here));
    snprintf(longer, sizeof longer, "%sx", here);
    T_TRUE(!host_is_local(longer));
    T_TRUE(!host_is_local("192.0.2.1"));    /* for documentation only */
    T_TRUE(!host_is_local(""));
}

static const char *pes(const char *flags)
{
    static char text[128];
    bool set[512] = { false };
    int n = (int)strlen(flags);

    for (int i = 0; i < n; i++)
        set[i] = flags[i] == 'x';
    pe_list(text, sizeof text, set, n);
    return text;
}

T(runs_of_pes_are_joined)
{
    bool odd[2000];
    char text[100];

    T_STR(pes(""), "");
    T_STR(pes("..."), "");
    T_STR(pes("x"), "0");
    T_STR(pes("xx"), "0-1");
    T_STR(pes(".xxx...x"), "1-3,7");
    T_STR(pes("x.x.x"), "0,2,4");
    T_STR(pes("xxxxxxxxxxxxx"), "0-12");
    for (int i = 0; i < 2000; i++)
        odd[i] = i & 1;
    memset(text, '#', sizeof text);
    pe_list(text, sizeof text, odd, 2000);
    T_LT(strlen(text), sizeof text);
    T_STR(text + strlen(text) - 4, ",...");
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0) {
        perror(path);
        return 1;
    }
    close(fd);
    T_RUN(lists_have_names_slots_and_addresses);
    T_RUN(bad_lists_are_reported);
    T_RUN(files_are_read_in_the_forms_of_other_launchers);
    T_RUN(bad_lines_of_a_file_are_reported_by_number);
    T_RUN(a_file_that_is_not_there_and_two_sources_are_refused);
    T_RUN(this_host_is_known_by_its_names);
    T_RUN(runs_of_pes_are_joined);
    unlink(path);
    return T_DONE();
}
