/* SPDX-License-Identifier: BSD-3-Clause */
/* Which protocol the messages of a channel use: the receiver's selection, when
 * the two ends match (msg_match.c calls it), and SHMEM_ST_EAGER.  To change
 * what goes by which protocol, change the table `rules`; to add a protocol, add
 * its file, its row in msg_proto.c and its rule here. */
#include "msg/msg_int.h"
#include "base/env.h"
#include "msg/msg_ctrl.h"
#include "msg/msg_proto.h"

#include <errno.h>
#include <string.h>

struct msg_eager_limit msg_eager_limit;

int msg_env_check(void)
{
    const char *text = env.ST_EAGER, *comma = strchr(text, ',');
    char first[32];
    size_t n = comma ? (size_t)(comma - text) : strlen(text);

    msg_eager_limit.on_node = MSG_EAGER_ON_NODE;
    msg_eager_limit.off_node = MSG_EAGER_OFF_NODE;
    if (!*text)
        return 0;
    if (n < sizeof first) {
        memcpy(first, text, n);
        first[n] = 0;
        if ((!comma || !strchr(comma + 1, ',')) &&
            !env_parse_size(first, false, &msg_eager_limit.on_node) &&
            !env_parse_size(comma ? comma + 1 : first, false,
                            &msg_eager_limit.off_node))
            return 0;
    }
    log_error(ERR_ENV, "SHMEM_ST_EAGER is \"%s\": want bytes, like 8k, or "
              "those for this node and for others, like 4k,16k", text);
    return -EINVAL;
}

/* ---- landing slots ---- */

bool msg_alloc_slots(struct msg_chan *r, unsigned n)
{
    r->slot_size = (r->bytes + 63) / 64 * 64;
    r->landing = n ? heap_pool_alloc(n * r->slot_size) : r->buf;
    r->slots = r->landing && n ? n : 0;
    return r->slots == n;
}

/* ---- the table ---- */

enum kind { PLAIN, READY, ONE_SHOT, PARTITIONED };
enum route { ANY_ROUTE, ON_NODE, OFF_NODE };
/* Where messages land: two slots; the buffer, or one slot if the buffer is not
 * symmetric; or what the channel has had since it was made. */
enum landing { SLOTS, BUFFER, AS_MADE };

/* There the stream that comes second cannot move private memory. */
static bool has_host_streams(const struct msg_chan *r,
                             const struct msg_ctrl *rts)
{
    (void)r, (void)rts;
    return gtl_device.host_streams;
}

static bool has_trigger(const struct msg_chan *r, const struct msg_ctrl *rts)
{
    (void)r;
    return rts->flags & MSG_RTS_TRIGGER;
}

/* The first rule that fits, and whose slots find room. */
static const struct rule {
    enum msg_proto_id proto;
    enum kind kind;
    enum route route;
    const size_t *limit;        /* bytes of a message at most; NULL: any */
    enum landing landing;
    /* r is the receiver's end; NULL: always. */
    bool (*fits)(const struct msg_chan *r, const struct msg_ctrl *rts);
} rules[] = {
    /* protocol            for          route      up to    lands     where */
    { MSG_PROTO_ONE_SHOT,  ONE_SHOT,    ANY_ROUTE, NULL,    AS_MADE,  NULL },
    { MSG_PROTO_PART,      PARTITIONED, ANY_ROUTE, NULL,    BUFFER,   NULL },
    { MSG_PROTO_READY,     READY,       ANY_ROUTE, NULL,    BUFFER,   NULL },
    { MSG_PROTO_EAGER,     PLAIN,       ON_NODE,   &msg_eager_limit.on_node,
                                                            SLOTS,    NULL },
    { MSG_PROTO_EAGER,     PLAIN,       OFF_NODE,  &msg_eager_limit.off_node,
                                                            SLOTS,    NULL },
    { MSG_PROTO_PEER_COPY, PLAIN,       ON_NODE,   NULL,    BUFFER,
                                                    msg_peer_copy_usable },
    { MSG_PROTO_EAGER,     PLAIN,       ON_NODE,   NULL,    SLOTS,
                                                    has_host_streams },
    { MSG_PROTO_TRIG,      PLAIN,       OFF_NODE,  NULL,    BUFFER,
                                                    has_trigger },
    { MSG_PROTO_RNDV,      PLAIN,       ANY_ROUTE, NULL,    BUFFER,   NULL }
};

static enum kind kind_of(const struct msg_chan *r, const struct msg_ctrl *rts)
{
    return r->one_shot                  ? ONE_SHOT
           : r->part                    ? PARTITIONED
           : rts->flags & MSG_RTS_READY ? READY : PLAIN;
}

static bool fits(const struct rule *rule, const struct msg_chan *r,
                 const struct msg_ctrl *rts)
{
    enum route route = xport_is_mapped(r->pe) ? ON_NODE : OFF_NODE;

    return rule->kind == kind_of(r, rts) &&
           (rule->route == ANY_ROUTE || rule->route == route) &&
           (!rule->limit || r->bytes <= *rule->limit) &&
           (!rule->fits || rule->fits(r, rts));
}

/* An empty message needs no slot. */
static bool alloc_landing(struct msg_chan *r, enum landing landing)
{
    bool symmetric = heap_find(r->buf, r->bytes) >= 0;

    if (landing == AS_MADE || (landing == SLOTS && !r->bytes))
        return true;
    return msg_alloc_slots(r, landing == SLOTS ? 2
                              : symmetric || !r->bytes ? 0 : 1);
}

int msg_select_proto(struct msg_chan *r, const struct msg_ctrl *rts)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (fits(&rules[i], r, rts) && alloc_landing(r, rules[i].landing)) {
            msg_set_proto(r, rules[i].proto);
            return 0;
        }
    return -ENOSPC;
}
