/* SPDX-License-Identifier: BSD-3-Clause */
/* list.h - an intrusive ring of links; the head is a link that is no member.
 * Not thread-safe: the owner locks. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_link {
    struct list_link *next, *prev;
};

#define LIST_INIT(head) { &(head), &(head) }
#define list_entry(link, type, member) \
    ((type *)(void *)((char *)(link) - offsetof(type, member)))
/* The body may remove `pos` itself, not its successor. */
#define list_each(pos, tmp, head)                              \
    for ((pos) = (head)->next, (tmp) = (pos)->next;            \
         (pos) != (head); (pos) = (tmp), (tmp) = (pos)->next)

static inline bool list_empty(const struct list_link *head)
{
    return head->next == head;
}

static inline void list_append(struct list_link *head, struct list_link *l)
{
    l->prev = head->prev;
    l->next = head;
    head->prev->next = l;
    head->prev = l;
}

static inline void list_remove(struct list_link *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->next = l->prev = l;
}

#endif
