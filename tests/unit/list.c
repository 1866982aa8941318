/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: rings of links keep the order of appending, whatever is
 * removed in between. */
#include "unit.h"

#include "base/list.h"

struct item {
    int number;
    struct list_link link;
    struct list_link other;     /* a second list may hold the same item */
};

static struct list_link head = LIST_INIT(head);

/* The numbers in the list, forwards; both directions must agree. */
static int numbers(const struct list_link *list, int *out, int most)
{
    const struct list_link *l;
    int n = 0, back = 0;

    for (l = list->next; l != list && n < most; l = l->next)
        out[n++] = list_entry(l, struct item, link)->number;
    for (l = list->prev; l != list && back < n; l = l->prev)
        T_EQ(list_entry(l, struct item, link)->number, out[n - 1 - back++]);
    T_EQ(back, n);
    return n;
}

T(an_empty_ring_is_empty_again_after_the_last)
{
    struct item one = { .number = 1 };
    struct list_link made = LIST_INIT(made);
    int out[4];

    T_TRUE(list_empty(&made));
    T_TRUE(list_empty(&head));
    list_append(&made, &one.link);
    T_TRUE(!list_empty(&made));
    T_EQ(numbers(&made, out, 4), 1);
    T_EQ(list_entry(made.next, struct item, link), &one);
    list_remove(&one.link);
    T_TRUE(list_empty(&made));
    T_TRUE(list_empty(&one.link));
    list_remove(&one.link);     /* a lone link may be removed again */
    T_TRUE(list_empty(&made));
}

T(random_calls_agree_with_an_array)
{
    enum { ITEMS = 50, STEPS = 20000 };
    static struct item items[ITEMS];
    int model[ITEMS], got[ITEMS + 1], n = 0, k, at;

    for (int i = 0; i < ITEMS; i++)
        items[i].number = i;
    for (int step = 0; step < STEPS; step++) {
        k = (int)(T_RAND() % ITEMS);
        for (at = 0; at < n && model[at] != k; at++)
            ;
        if (at < n) {
            list_remove(&items[k].link);
            memmove(&model[at], &model[at + 1],
                    (size_t)(--n - at) * sizeof *model);
        } else {
            list_append(&head, &items[k].link);
            model[n++] = k;
        }
        if (step % 16 == 0 && T_EQ(numbers(&head, got, ITEMS + 1), n))
            T_MEM(got, model, (size_t)n * sizeof *got);
    }
    while (!list_empty(&head))
        list_remove(head.next);
}

T(the_body_of_a_loop_may_remove_where_it_is)
{
    struct list_link *pos, *tmp;
    struct item items[10];
    int out[10], seen = 0;

    for (int i = 0; i < 10; i++) {
        items[i].number = i;
        list_append(&head, &items[i].link);
    }
    list_each(pos, tmp, &head) {
        T_EQ(list_entry(pos, struct item, link)->number, seen);
        if (seen++ % 2)
            list_remove(pos);
    }
    T_EQ(seen, 10);
    T_EQ(numbers(&head, out, 10), 5);
    for (int i = 0; i < 5; i++)
        T_EQ(out[i], 2 * i);
    list_each(pos, tmp, &head)
        list_remove(pos);
    T_TRUE(list_empty(&head));
    list_each(pos, tmp, &head)
        T_TRUE(!"an empty ring has no member");
}

T(an_item_may_be_in_two_lists)
{
    struct list_link second = LIST_INIT(second);
    struct item a = { .number = 1 }, b = { .number = 2 };
    int out[2];

    list_append(&head, &a.link);
    list_append(&head, &b.link);
    list_append(&second, &b.other);
    list_append(&second, &a.other);
    T_EQ(list_entry(second.next, struct item, other), &b);
    list_remove(&b.other);
    T_EQ(list_entry(second.next, struct item, other), &a);
    T_EQ(numbers(&head, out, 2), 2);
}

int main(void)
{
    T_RUN(an_empty_ring_is_empty_again_after_the_last);
    T_RUN(random_calls_agree_with_an_array);
    T_RUN(the_body_of_a_loop_may_remove_where_it_is);
    T_RUN(an_item_may_be_in_two_lists);
    return T_DONE();
}
