/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a merged trace as JSON objects, one a line, and finds its arrows.
 * Called by trace_merge.c, which reads the files. */
#include "base/trace_text.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *arg[2];
} kinds[TRACE_KINDS] = {
    [TRACE_CALL] = { "call", { NULL, NULL } },
    [TRACE_TRANSFER] = { "transfer", { "data bytes", NULL } },
    [TRACE_WAIT] = { "wait", { NULL, NULL } },
    [TRACE_STREAM] = { "stream", { "data bytes", NULL } },
    [TRACE_MESSAGE] = { "message", { "tag", "start" } },
    [TRACE_TRIGGER] = { "trigger", { "tag", "threshold" } },
    [TRACE_PARTITION] = { "partition", { "partition", "tag" } }
};

static void write_time(FILE *to, const char *key, uint64_t ns)
{
    fprintf(to, ",\"%s\":%llu.%03u", key, (unsigned long long)(ns / 1000),
            (unsigned)(ns % 1000));
}

static void write_place(FILE *to, const struct trace_entry *s)
{
    fprintf(to, ",\"pid\":%d,\"tid\":%u", s->pe, s->event->thread);
}

void trace_write_begin(FILE *to)
{
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", to);
}

void trace_write_process(FILE *to, const struct trace_file *f, bool first)
{
    char name[128];

    snprintf(name, sizeof name, "PE %u (%.*s)", f->pe, (int)sizeof f->host,
             f->host);
    fprintf(to, "%s\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,"
            "\"args\":{\"name\":", first ? "" : ",", f->pe);
    json_string(to, name, sizeof name);
    fprintf(to, "}},\n{\"name\":\"process_sort_index\",\"ph\":\"M\","
            "\"pid\":%u,\"args\":{\"sort_index\":%u}}", f->pe, f->pe);
}

void trace_write_thread(FILE *to, const struct trace_file *f,
                        const struct trace_ring *r)
{
    fprintf(to, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%u,"
            "\"tid\":%u,\"args\":{\"name\":", f->pe, r->thread);
    json_string(to, r->name, sizeof r->name);
    fputs("}}", to);
}

static const char *comma(bool *any)
{
    const char *c = *any ? "," : "";

    *any = true;
    return c;
}

static void write_args(FILE *to, const struct trace_entry *s)
{
    const struct trace_event *e = s->event;
    bool any = false;

    fputs(",\"args\":{", to);
    if (e->pe >= 0)
        fprintf(to, "%s\"pe\":%d", comma(&any), (int)e->pe);
    if (e->bytes)
        fprintf(to, "%s\"bytes\":%llu", comma(&any),
                (unsigned long long)e->bytes);
    for (int i = 0; i < 2; i++)
        if (kinds[e->kind].arg[i] &&
            (e->arg[i] || e->kind >= TRACE_MESSAGE))
            fprintf(to, "%s\"%s\":%lld", comma(&any), kinds[e->kind].arg[i],
                    (long long)e->arg[i]);
    if (s->lasts)
        fprintf(to, "%s\"unfinished\":true", comma(&any));
    putc('}', to);
}

void trace_write_event(FILE *to, const struct trace_entry *s, uint64_t first_ns)
{
    const struct trace_event *e = s->event;
    bool mark = !s->lasts && e->begin_ns == e->end_ns;

    fputs(",\n{\"name\":", to);
    json_string(to, *s->name ? s->name : "?", TRACE_NAME);
    fprintf(to, ",\"cat\":\"%s\",\"ph\":\"%s\"", kinds[e->kind].name,
            mark ? "i\",\"s\":\"t" : "X");
    write_time(to, "ts", s->begin_ns - first_ns);
    if (!mark)
        write_time(to, "dur", s->end_ns - s->begin_ns);
    write_place(to, s);
    write_args(to, s);
    putc('}', to);
}

void trace_write_end(FILE *to, const struct trace_merged *m)
{
    fprintf(to, "\n],\"otherData\":{\"PEs\":%u,\"PEs read\":%u,\"events\":%llu,"
            "\"lost events\":%llu,\"arrows\":%llu}}\n", m->n_pes, m->found,
            (unsigned long long)m->events, (unsigned long long)m->lost,
            (unsigned long long)m->arrows);
}

/* ---- arrows ---- */

static void add(struct trace_ends *e, struct trace_end_list *l,
                const struct trace_entry *s)
{
    struct trace_entry *more;
    size_t room = l->room ? 2 * l->room : 256;

    if (l->n == l->room) {
        more = realloc(l->at, room * sizeof *more);
        if (!more) {
            e->failed = true;
            return;
        }
        l->at = more;
        l->room = room;
    }
    l->at[l->n++] = *s;
}

void trace_ends_add(struct trace_ends *e, const struct trace_entry *s)
{
    switch (s->event->role) {
    case TRACE_STORES:
    case TRACE_SENDS:
        if (s->event->at != TRACE_NOWHERE)
            add(e, &e->sources, s);
        break;
    case TRACE_SEES:
    case TRACE_RECEIVES:
        if (s->event->at != TRACE_NOWHERE && !s->lasts)
            add(e, &e->sinks, s);
        break;
    default:
        break;
    }
}

void trace_ends_free(struct trace_ends *e)
{
    free(e->sources.at);
    free(e->sinks.at);
}

/* Sources in the order of the PE that they reach, and of time. */
static int by_target(const void *a, const void *b)
{
    const struct trace_entry *x = a, *y = b;

    if (x->event->pe != y->event->pe)
        return x->event->pe < y->event->pe ? -1 : 1;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* How many sources reach PEs below pe, or pe itself up to that time. */
static size_t sources_until(const struct trace_end_list *l, int pe, uint64_t ns)
{
    size_t low = 0, high = l->n, mid;

    while (low < high) {
        mid = low + (high - low) / 2;
        if (l->at[mid].event->pe < pe ||
            (l->at[mid].event->pe == pe && l->at[mid].begin_ns <= ns))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool belong(const struct trace_event *source,
                   const struct trace_event *sink)
{
    if ((source->role == TRACE_SENDS) != (sink->role == TRACE_RECEIVES))
        return false;
    if (source->role == TRACE_SENDS)
        return source->at == sink->at;
    return source->at < sink->at + sink->bytes &&
           sink->at < source->at + source->bytes;
}

/* The last one before the sink saw it; NULL: none is recorded. */
static const struct trace_entry *source_of(const struct trace_end_list *l,
                                           const struct trace_entry *sink)
{
    enum { STEPS = 65536 };
    size_t i = sources_until(l, sink->pe, sink->end_ns);

    for (unsigned n = 0; i && n < STEPS; n++) {
        const struct trace_entry *s = &l->at[--i];

        if (s->event->pe != sink->pe)
            break;
        if (belong(s->event, sink->event))
            return s;
    }
    return NULL;
}

static void write_arrow_end(FILE *to, const char *phase,
                            const struct trace_entry *s, uint64_t ns,
                            uint64_t id)
{
    fprintf(to, ",\n{\"name\":\"data\",\"cat\":\"arrow\",\"ph\":\"%s\","
            "\"id\":%llu", phase, (unsigned long long)id);
    write_time(to, "ts", ns);
    write_place(to, s);
    putc('}', to);
}

uint64_t trace_write_arrows(struct trace_ends *e, uint64_t first_ns)
{
    uint64_t n = 0;

    if (e->sources.n)
        qsort(e->sources.at, e->sources.n, sizeof *e->sources.at, by_target);
    for (size_t i = 0; i < e->sinks.n; i++) {
        const struct trace_entry *sink = &e->sinks.at[i];
        const struct trace_entry *source = source_of(&e->sources, sink);
        /* Inside of its event, which a viewer finds the arrow by. */
        uint64_t last = sink->end_ns > sink->begin_ns ? sink->end_ns - 1
                                                      : sink->end_ns;

        if (!source)
            continue;
        n++;
        write_arrow_end(e->to, "s", source, source->begin_ns - first_ns, n);
        write_arrow_end(e->to, "f\",\"bp\":\"e", sink, last - first_ns, n);
    }
    return n;
}
