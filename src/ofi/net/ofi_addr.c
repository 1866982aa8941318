/* SPDX-License-Identifier: BSD-3-Clause */
/* A field is a byte with the tag in its upper half and the length in the lower
 * one, or 15 there and the length in the next byte; then so many bytes.
 * Numbers have their lower bytes first and no zeros behind. */
#include "ofi/net/ofi_addr.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum tag { PROVIDER = 1, TOKEN, ADDR, SIZE, KEY, BASE, DATA_SIZE, DATA_KEY,
           DATA_BASE, RAILS };
enum { LONG = 15 };

/* Providers by number: new ones come last.  Others are named. */
static const char *const providers[] = {
    "", "cxi", "verbs;ofi_rxm", "tcp;ofi_rxm", "tcp", "efa", "psm3", "opx",
    "sockets", "shm", "udp;ofi_rxd", "verbs"
};
enum { PROVIDERS = sizeof providers / sizeof *providers };

static uint8_t *put_field(uint8_t *out, enum tag tag, const void *value,
                          size_t len)
{
    *out++ = (uint8_t)((unsigned)tag << 4 | (len < LONG ? len : LONG));
    if (len >= LONG)
        *out++ = (uint8_t)len;
    memcpy(out, value, len);
    return out + len;
}

static uint8_t *put_number(uint8_t *out, enum tag tag, uint64_t value)
{
    uint8_t bytes[sizeof value];
    size_t len = 0;

    for (; value; value >>= 8)
        bytes[len++] = (uint8_t)value;
    return put_field(out, tag, bytes, len);
}

static uint8_t *put_unlike(uint8_t *out, enum tag tag, uint64_t value,
                           uint64_t usual)
{
    return value == usual ? out : put_number(out, tag, value);
}

/* The keys of a PE's segments mostly follow each other. */
static uint64_t usual_key(uint64_t host)
{
    return host ? host + HEAP_DATA - HEAP_HOST : 0;
}

size_t ofi_addr_pack(const struct ofi_addr *c, const struct ofi_addr *usual,
                     uint8_t out[OFI_ADDR_MAX])
{
    uint64_t known = 0;
    uint8_t *p = out;

    while (known < PROVIDERS && strcmp(providers[known], c->provider))
        known++;
    *p++ = c->version;
    if (known < PROVIDERS)
        p = put_number(p, PROVIDER, known);
    else                        /* a number's bytes are no text */
        p = put_field(p, PROVIDER, c->provider, strlen(c->provider));
    p = put_number(p, TOKEN, c->token);
    p = put_field(p, ADDR, c->addr, c->addr_len);
    p = put_unlike(p, SIZE, c->seg_size[HEAP_HOST],
                   usual->seg_size[HEAP_HOST]);
    p = put_unlike(p, DATA_SIZE, c->seg_size[HEAP_DATA],
                   usual->seg_size[HEAP_DATA]);
    p = put_unlike(p, KEY, c->key[HEAP_HOST], 0);
    p = put_unlike(p, DATA_KEY, c->key[HEAP_DATA],
                   usual_key(c->key[HEAP_HOST]));
    p = put_unlike(p, BASE, c->base[HEAP_HOST], 0);
    p = put_unlike(p, DATA_BASE, c->base[HEAP_DATA], 0);
    p = put_unlike(p, RAILS, c->rails, 1);
    return (size_t)(p - out);
}

/* ---- back ---- */

struct field {
    unsigned tag;
    const uint8_t *value;
    size_t len;
};

static int get_number(const struct field *f, uint64_t *out)
{
    uint64_t v = 0;

    if (f->len > sizeof v)
        return -EPROTO;
    for (size_t i = f->len; i-- > 0; )
        v = v << 8 | f->value[i];
    *out = v;
    return 0;
}

static int get_provider(const struct field *f, struct ofi_addr *out)
{
    if (f->len > OFI_ADDR_NAME_MAX)
        return -EPROTO;
    if (f->len == 1 && f->value[0] < PROVIDERS) {
        strcpy(out->provider, providers[f->value[0]]);
        return 0;
    }
    for (size_t i = 0; i < f->len; i++)
        if (f->value[i] < ' ')  /* a number, no text */
            return -EPROTO;
    memcpy(out->provider, f->value, f->len);
    out->provider[f->len] = '\0';
    return 0;
}

static int get_addr(const struct field *f, struct ofi_addr *out)
{
    memcpy(out->addr, f->value, f->len);        /* as long as a byte says */
    out->addr_len = f->len;
    return 0;
}

static int get_rails(const struct field *f, struct ofi_addr *out)
{
    uint64_t n;
    int rc = get_number(f, &n);

    if (!rc && (n < 1 || n > 255))
        rc = -EPROTO;
    if (!rc)
        out->rails = (unsigned)n;
    return rc;
}

static int take_field(const struct field *f, struct ofi_addr *out,
                      bool *own_key)
{
    switch (f->tag) {
    case PROVIDER:
        return get_provider(f, out);
    case TOKEN:
        return get_number(f, &out->token);
    case ADDR:
        return get_addr(f, out);
    case SIZE:
        return get_number(f, &out->seg_size[HEAP_HOST]);
    case DATA_SIZE:
        return get_number(f, &out->seg_size[HEAP_DATA]);
    case KEY:
        return get_number(f, &out->key[HEAP_HOST]);
    case DATA_KEY:
        *own_key = true;
        return get_number(f, &out->key[HEAP_DATA]);
    case BASE:
        return get_number(f, &out->base[HEAP_HOST]);
    case DATA_BASE:
        return get_number(f, &out->base[HEAP_DATA]);
    case RAILS:
        return get_rails(f, out);
    default:
        return 0;
    }
}

/* The byte behind it, or NULL. */
static const uint8_t *next_field(const uint8_t *p, const uint8_t *end,
                                 struct field *out)
{
    out->tag = *p >> 4;
    out->len = *p++ & 15;
    if (out->len == LONG) {
        if (p == end)
            return NULL;
        out->len = *p++;
    }
    out->value = p;
    return out->len <= (size_t)(end - p) ? p + out->len : NULL;
}

int ofi_addr_unpack(const uint8_t *in, size_t len, const struct ofi_addr *usual,
                    struct ofi_addr *out)
{
    const uint8_t *p = in + 1, *end = in + len;
    bool own_key = false;
    struct field f;

    memset(out, 0, sizeof *out);
    if (!len)
        return -EPROTO;
    out->version = in[0];
    if (out->version != OFI_ADDR_VERSION)
        return 0;
    memcpy(out->seg_size, usual->seg_size, sizeof out->seg_size);
    out->rails = 1;
    while (p < end) {
        p = next_field(p, end, &f);
        if (!p || take_field(&f, out, &own_key))
            return -EPROTO;
    }
    if (!own_key)
        out->key[HEAP_DATA] = usual_key(out->key[HEAP_HOST]);
    return 0;
}
