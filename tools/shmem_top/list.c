/* SPDX-License-Identifier: BSD-3-Clause */
/* list.c - shmem_top --json: all PEs as one line of JSON, for programs.  Called by
 * main.c, once an interval. */
#include "top.h"
#include "base/json.h"

#include <time.h>

static void add_rate(struct json *j, const char *key, double v)
{
    json_number(j, key, v > 0 ? (uint64_t)(v + 0.5) : 0);
}

static void add_rates(struct json *j, const struct pe *p)
{
    struct rates r = rates_of(p);

    if (r.seconds <= 0)
        return;
    json_object(j, "rates");
    add_rate(j, "interval_ms", r.seconds * 1e3);
    add_rate(j, "cpu_percent", r.cpu * 100);
    add_rate(j, "calls_per_s", r.calls);
    add_rate(j, "self_bytes_per_s", r.bytes[PROFILE_SELF]);
    add_rate(j, "node_bytes_per_s", r.bytes[PROFILE_NODE]);
    add_rate(j, "network_bytes_per_s", r.bytes[PROFILE_NETWORK]);
    add_rate(j, "in_calls_percent", r.in_calls * 100);
    add_rate(j, "waiting_percent", r.waiting * 100);
    json_close_object(j);
}

static void add_pe(struct json *j, const struct pe *p)
{
    const char *silent = why_silent(p);
    const char *memory = p->now.memory;

    json_object(j, NULL);
    json_text(j, "job", p->page->job);
    json_integer(j, "pe", (int)p->page->pe);
    json_integer(j, "n_pes", (int)p->page->n_pes);
    json_integer(j, "pid", p->pid);
    json_bool(j, "answers", !silent);
    json_text(j, "report", silent ? silent : p->now.report);
    if (!silent) {
        while (*memory == ';' || *memory == ' ')
            memory++;
        json_text(j, "memory", memory);
        json_list(j, "waits_for");
        for (unsigned i = 0; i < p->now.n_awaited && i < STATUS_AWAITED; i++)
            json_integer(j, NULL, p->now.awaited[i]);
        json_close_list(j);
        json_number(j, "waits_for_pes", p->now.n_awaited);
        add_rates(j, p);
    }
    json_close_object(j);
}

void print_list(const struct pes *all)
{
    struct json j = { .to = stdout, .one_line = true };

    json_object(&j, NULL);
    json_integer(&j, "time", time(NULL));
    json_list(&j, "pes");
    for (size_t i = 0; i < all->n; i++)
        add_pe(&j, &all->at[i]);
    json_close_list(&j);
    json_close_object(&j);
}
