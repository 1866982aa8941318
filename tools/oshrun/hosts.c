/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.c - reads the hosts of -H and --hostfile with their slots, and finds
 * out which of them are this host.  handover.c calls it before any process
 * starts. */
#include "oshrun.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct list {
    struct host *host;
    int n;
};

/* slots is 0 where none are given. */
static void add(struct list *l, const char *name, size_t len, int slots)
{
    struct host *h;

    l->host = must(realloc(l->host, ((size_t)l->n + 1) * sizeof(*l->host)));
    h = &l->host[l->n++];
    h->name = must(strndup(name, len));
    h->counted = slots > 0;
    h->slots = h->counted ? slots : 1;
}

static bool slots_of(const char *text, size_t len, int *out)
{
    char digits[12];

    if (len == 0 || len >= sizeof(digits) - 4 ||
        strspn(text, "0123456789") < len)
        return false;
    memcpy(digits, text, len);
    digits[len] = '\0';
    *out = atoi(digits);
    return *out > 0;
}

/* NAME, NAME:N or [ADDRESS]:N, len bytes.  An address without brackets has
 * more than one colon and no number of slots. */
static bool add_word(struct list *l, const char *word, size_t len)
{
    const char *colon, *name = word;
    size_t n = len;
    int slots = 0;

    if (len && *word == '[') {
        const char *end = memchr(word, ']', len);

        if (!end)
            return false;
        name = word + 1;
        n = (size_t)(end - name);
        if (end + 1 < word + len &&
            (end[1] != ':' ||
             !slots_of(end + 2, (size_t)(word + len - end - 2), &slots)))
            return false;
    } else if ((colon = memchr(word, ':', len)) &&
               !memchr(colon + 1, ':', (size_t)(word + len - colon - 1))) {
        n = (size_t)(colon - word);
        if (!slots_of(colon + 1, len - n - 1, &slots))
            return false;
    }
    if (n == 0)
        return false;
    add(l, name, n, slots);
    return true;
}

/* NULL, or the word that is bad. */
static const char *read_list(struct list *l, const char *text)
{
    size_t len;

    for (;; text += len + 1) {
        len = strcspn(text, ",");
        if (!add_word(l, text, len))
            return text;
        if (!text[len])
            return NULL;
    }
}

/* HOST[:N] [slots=N] [other=...]; words with "=" that are not slots= are the
 * business of other launchers. */
static bool add_line(struct list *l, char *line)
{
    char *word, *save = NULL;
    int slots;

    line[strcspn(line, "#\r\n")] = '\0';
    word = strtok_r(line, " \t", &save);
    if (!word)
        return true;
    if (!add_word(l, word, strlen(word)))
        return false;
    while ((word = strtok_r(NULL, " \t", &save))) {
        if (!strchr(word, '='))
            return false;
        if (strncmp(word, "slots=", 6) == 0) {
            if (!slots_of(word + 6, strlen(word + 6), &slots))
                return false;
            l->host[l->n - 1].slots = slots;
            l->host[l->n - 1].counted = true;
        }
    }
    return true;
}

/* 0, or the number of the line that is bad. */
static int read_lines(struct list *l, FILE *f)
{
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    int row = 0;

    while (good && getline(&line, &size, f) >= 0) {
        row++;
        good = add_line(l, line);
    }
    free(line);
    return good ? 0 : row;
}

static void take_list(struct list *l, const char *text)
{
    const char *bad = read_list(l, text);

    if (!bad)
        return;
    say("S-E-HOSTS", "host list: '%.*s' is neither HOST nor HOST:N",
        (int)strcspn(bad, ","), bad);
    exit(EXIT_USAGE);
}

static void take_file(struct list *l, const char *path)
{
    FILE *f = fopen(path, "re");
    int row = f ? read_lines(l, f) : 0;

    if (!f || ferror(f))
        say("S-E-HOSTS", "host file %s: %m", path);
    else if (row)
        say("S-E-HOSTS", "host file %s, line %d: neither HOST, HOST:N nor "
            "HOST slots=N", path, row);
    else if (l->n == 0)
        say("S-E-HOSTS", "host file %s names no host", path);
    else {
        fclose(f);
        return;
    }
    exit(EXIT_USAGE);
}
int hosts_read(const struct opts *o, struct host **out)
{
    struct list l = { NULL, 0 };

    if (o->hosts && o->hostfile) {
        say("S-E-ARGS", "-H and --hostfile: give one of the two");
        exit(EXIT_USAGE);
    }
    if (o->hosts)
        take_list(&l, o->hosts);
    if (o->hostfile)
        take_file(&l, o->hostfile);
    *out = l.host;
    return l.n;
}

static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
    const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
    const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

    if (!b || a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
    return a->sa_family == AF_INET6 &&
           memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr)) == 0;
}

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)(const void *)a)
                      ->sin_addr.s_addr) >> 24) == 127;
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)
                                ->sin6_addr);
}

static bool resolves_here(const char *name)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found, *a;
    struct ifaddrs *interfaces, *i;
    bool here = false;

    if (getaddrinfo(name, NULL, &hints, &found) != 0)
        return false;
    if (getifaddrs(&interfaces) < 0)
        interfaces = NULL;
    for (a = found; a && !here; a = a->ai_next) {
        here = is_loopback(a->ai_addr);
        for (i = interfaces; i && !here; i = i->ifa_next)
            here = same_address(a->ai_addr, i->ifa_addr);
    }
    if (interfaces)
        freeifaddrs(interfaces);
    freeaddrinfo(found);
    return here;
}

bool host_is_local(const char *name)
{
    char here[256];
    size_t len;

    host_name(here, sizeof(here));
    if (strcasecmp(name, "localhost") == 0 || strcasecmp(name, here) == 0)
        return true;
    len = strcspn(here, ".");           /* either name may lack the domain */
    if (strncasecmp(name, here, len) == 0 && (!name[len] ||
                                              (name[len] == '.' && !here[len])))
        return true;
    return resolves_here(name);
}
