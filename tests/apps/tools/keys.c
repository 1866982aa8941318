/* SPDX-License-Identifier: BSD-3-Clause */
/* keys.c - files of keys, made and sorted without the program under test.
 *
 *   keys make TYPE COUNT KIND    writes keys to standard output
 *   keys sort TYPE               standard input, sorted by qsort()
 *   keys same TYPE COUNT VALUE   is the input COUNT times VALUE?
 *   keys json FILE               is the file one JSON object?
 *   keys isx PES COUNT MAX SEED  each PE makes so many keys as ISx does; how
 *                                many are of PE 0's bucket?
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A type as its width and the sign bit that is to be flipped to order keys as
 * unsigned numbers. */
struct type {
    size_t width;
    uint64_t sign;
};

static _Noreturn void die(const char *why)
{
    fprintf(stderr, "keys: %s\n", why);
    exit(2);
}

static struct type type_of(const char *name)
{
    bool wide = strcmp(name + 1, "64") == 0;

    if ((!wide && strcmp(name + 1, "32") != 0) || !strchr("iu", *name))
        die("no such type");
    return (struct type){ wide ? 8 : 4, *name == 'u' ? 0
                                      : UINT64_C(1) << (wide ? 63 : 31) };
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Of all bits, of few values, and those where orders are easily wrong. */
static uint64_t key_of(const char *kind, uint64_t i, uint64_t *state)
{
    static const uint64_t edges[] = {
        0, 1, UINT64_MAX, UINT64_MAX - 1, INT32_MAX, UINT32_MAX, 0x80000000,
        0x80000001, 0xffff, 0x10000, UINT64_C(1) << 32, INT64_MAX,
        UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1,
    };
    uint64_t x = next(state);

    switch (*kind) {
    case 'm':                           /* mixed */
        return x % 3 == 0 ? edges[x / 3 % 14] : x % 3 == 1 ? x / 3 % 50 : x;
    case 'e':                           /* equal */
        return UINT64_C(0xfedcba9876543210);
    case 'a':                           /* ascending */
        return i;
    case 'd':                           /* descending */
        return ~i;
    case 'n':                           /* narrow: differ in one low bit */
        return UINT64_C(0x7fffffff7ffffffe) + (x >> 40 & 1);
    default:                            /* heap: one value, and a few others */
        return x % 100 ? 7 : x >> 8;
    }
}

static void make(struct type t, uint64_t n, const char *kind)
{
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15) + n;

    for (uint64_t i = 0; i < n; i++) {
        uint64_t key = key_of(kind, i, &state);

        if (fwrite(&key, t.width, 1, stdout) != 1)
            die("write");
    }
}

static struct type order;

static uint64_t load(const void *p)
{
    uint64_t key = 0;

    memcpy(&key, p, order.width);
    return key ^ order.sign;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = load(a), y = load(b);

    return x < y ? -1 : x > y;
}

static char *slurp(FILE *f, size_t *len)
{
    size_t cap = 1 << 16, n = 0, got;
    char *data = malloc(cap);

    while (data && (got = fread(data + n, 1, cap - n, f)) > 0) {
        n += got;
        if (n == cap)
            data = realloc(data, cap *= 2);
    }
    if (!data || ferror(f))
        die("read");
    *len = n;
    return data;
}

static int same(struct type t, uint64_t n, uint64_t value)
{
    size_t len;
    char *data = slurp(stdin, &len);
    bool ok = len == n * t.width;

    order = (struct type){ t.width, 0 };
    for (size_t at = 0; ok && at < len; at += t.width)
        ok = load(data + at) == value;
    free(data);
    return !ok;
}

/* ------------------------------------------------------------------- ISx ---- */

/* PCG32 as published: 64 bits of state, XSH RR output, a stream per PE. */
struct generator { uint64_t state, stream; };

static uint32_t draw(struct generator *g)
{
    uint64_t old = g->state;
    uint32_t shifted = (uint32_t)((old >> 18 ^ old) >> 27);
    uint32_t turn = (uint32_t)(old >> 59);

    g->state = old * UINT64_C(6364136223846793005) + g->stream;
    return turn ? shifted >> turn | shifted << (32 - turn) : shifted;
}

static uint64_t first_bucket(uint64_t pes, uint64_t n, uint64_t max,
                             uint64_t seed)
{
    uint64_t width = (max + pes - 1) / pes, found = 0;

    for (uint64_t pe = 0; pe < pes; pe++) {
        struct generator g = { 0, pe * 2 + 1 };

        draw(&g);
        g.state += pe + seed;
        draw(&g);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t key;

            do
                key = draw(&g);
            while (key < (UINT64_C(1) << 32) % max);
            found += key % max < width;
        }
    }
    return found;
}

/* ------------------------------------------------------------------ JSON ---- */

static const char *value(const char *p);

static const char *skip(const char *p)
{
    while (p && isspace((unsigned char)*p))
        p++;
    return p;
}

static const char *string(const char *p)
{
    if (*p++ != '"')
        return NULL;
    for (; *p != '"'; p++) {
        if ((unsigned char)*p < 0x20)
            return NULL;
        if (*p != '\\')
            continue;
        p++;
        if (*p == 'u' && strspn(p + 1, "0123456789abcdefABCDEF") >= 4)
            p += 4;
        else if (!*p || !strchr("\"\\/bfnrt", *p))
            return NULL;
    }
    return p + 1;
}

static const char *number(const char *p)
{
    char *end;

    if (*p != '-' && !isdigit((unsigned char)*p))
        return NULL;                    /* nan, inf, +1 */
    if (*p == '-' && !isdigit((unsigned char)p[1]))
        return NULL;
    strtod(p, &end);
    return end;
}

/* Members of an object, or elements, up to the bracket that ends them. */
static const char *list(const char *p, char end)
{
    p = skip(p + 1);
    if (*p == end)
        return p + 1;
    for (;;) {
        if (end == '}') {
            p = skip(string(p));
            if (!p || *p++ != ':')
                return NULL;
        }
        p = skip(value(p));
        if (!p || (*p != ',' && *p != end))
            return NULL;
        if (*p++ == end)
            return p;
        p = skip(p);
    }
}

static const char *value(const char *p)
{
    p = skip(p);
    if (strncmp(p, "null", 4) == 0 || strncmp(p, "true", 4) == 0)
        return p + 4;
    if (strncmp(p, "false", 5) == 0)
        return p + 5;
    return *p == '{' ? list(p, '}') : *p == '[' ? list(p, ']')
         : *p == '"' ? string(p) : number(p);
}

static int json(const char *path)
{
    FILE *f = fopen(path, "r");
    const char *end;
    size_t len;
    char *text;
    int bad;

    if (!f)
        die("cannot open the file");
    text = slurp(f, &len);
    fclose(f);
    text = realloc(text, len + 1);
    if (!text)
        die("no memory");
    text[len] = '\0';
    end = *skip(text) == '{' ? skip(value(text)) : NULL;
    bad = !end || *end || strlen(text) != len;
    if (bad)
        fprintf(stderr, "keys: %s is no JSON object\n", path);
    free(text);
    return bad;
}

int main(int argc, char **argv)
{
    size_t len;
    char *data;

    if (argc == 5 && strcmp(argv[1], "make") == 0) {
        make(type_of(argv[2]), strtoull(argv[3], NULL, 10), argv[4]);
    } else if (argc == 3 && strcmp(argv[1], "sort") == 0) {
        order = type_of(argv[2]);
        data = slurp(stdin, &len);
        qsort(data, len / order.width, order.width, compare);
        if (fwrite(data, 1, len, stdout) != len)
            die("write");
        free(data);
    } else if (argc == 5 && strcmp(argv[1], "same") == 0) {
        return same(type_of(argv[2]), strtoull(argv[3], NULL, 10),
                    strtoull(argv[4], NULL, 10));
    } else if (argc == 3 && strcmp(argv[1], "json") == 0) {
        return json(argv[2]);
    } else if (argc == 6 && strcmp(argv[1], "isx") == 0) {
        printf("%" PRIu64 "\n", first_bucket(strtoull(argv[2], NULL, 10),
               strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10),
               strtoull(argv[5], NULL, 10)));
    } else {
        die("bad arguments");
    }
    return fflush(stdout) != 0;
}
