/* tree.c - an intrusive red-black tree with a pointer to the earliest timer.
 *
 * Timers with equal deadlines are in the order of their starts. The color is
 * the lowest bit of the pointer to the parent. All operations are O(log n);
 * finding the earliest is O(1).
 */
#include "all.h"
#include "links.h"

#include <stdlib.h>

/* Idle: parent == 0. The parent of the root is the tree's node `top`, whose
 * left child is the root. So no running timer has parent 0, and rotations have
 * no special case. */
struct tree_timer {
    uintptr_t parent; /* | TREE_RED */
    struct tree_timer *left;
    struct tree_timer *right;
    uint64_t deadline;
};

#define TREE_RED 1u

struct tree {
    struct tree_timer top; /* black; only left is used */
    struct tree_timer *earliest;
    uint64_t now;
};

static inline struct tree_timer *
parent_of(const struct tree_timer *t)
{
    return (struct tree_timer *)(t->parent & ~(uintptr_t)TREE_RED);
}

static inline bool
is_red(const struct tree_timer *t)
{
    return t != NULL && (t->parent & TREE_RED) != 0;
}

static inline void
set_parent(struct tree_timer *t, struct tree_timer *parent)
{
    t->parent = (uintptr_t)parent | (t->parent & TREE_RED);
}

static inline void
paint(struct tree_timer *t, bool red)
{
    t->parent = (t->parent & ~(uintptr_t)TREE_RED) | (red ? TREE_RED : 0);
}

/* Replaces old by t under parent. */
static inline void
replace_child(struct tree_timer *parent, const struct tree_timer *old,
              struct tree_timer *t)
{
    if (parent->left == old) {
        parent->left = t;
    } else {
        parent->right = t;
    }
}

/* Moves the right child up, and t down to its left. */
static void
rotate_left(struct tree_timer *t)
{
    struct tree_timer *up = t->right;
    struct tree_timer *parent = parent_of(t);

    t->right = up->left;
    if (t->right != NULL) {
        set_parent(t->right, t);
    }
    up->left = t;
    replace_child(parent, t, up);
    set_parent(up, parent);
    set_parent(t, up);
}

static void
rotate_right(struct tree_timer *t)
{
    struct tree_timer *up = t->left;
    struct tree_timer *parent = parent_of(t);

    t->left = up->right;
    if (t->left != NULL) {
        set_parent(t->left, t);
    }
    up->right = t;
    replace_child(parent, t, up);
    set_parent(up, parent);
    set_parent(t, up);
}

/* t is red, and its parent may be red, too. */
static void
rebalance_inserted(struct tree *tree, struct tree_timer *t)
{
    struct tree_timer *parent = NULL;

    while (is_red(parent = parent_of(t))) {
        struct tree_timer *grand = parent_of(parent);
        bool left = grand->left == parent;
        struct tree_timer *uncle = left ? grand->right : grand->left;

        if (is_red(uncle)) {
            paint(parent, false);
            paint(uncle, false);
            paint(grand, true);
            t = grand;
            continue;
        }
        if (left) {
            if (parent->right == t) {
                rotate_left(parent);
                parent = t;
            }
            rotate_right(grand);
        } else {
            if (parent->left == t) {
                rotate_right(parent);
                parent = t;
            }
            rotate_left(grand);
        }
        paint(parent, false);
        paint(grand, true);
        break;
    }
    paint(tree->top.left, false);
}

static void
insert(struct tree *tree, struct tree_timer *t)
{
    struct tree_timer *parent = &tree->top;
    struct tree_timer **place = &tree->top.left;
    bool earliest = true;

    while (*place != NULL) {
        parent = *place;
        if (t->deadline < parent->deadline) {
            place = &parent->left;
        } else {
            place = &parent->right;
            earliest = false;
        }
    }
    *place = t;
    t->left = NULL;
    t->right = NULL;
    t->parent = (uintptr_t)parent | TREE_RED;
    if (earliest) {
        tree->earliest = t;
    }
    rebalance_inserted(tree, t);
}

/* The side of parent where t is, or was, lacks one black node. */
static void
rebalance_removed(struct tree *tree, struct tree_timer *parent,
                  struct tree_timer *t)
{
    while (parent != &tree->top && !is_red(t)) {
        bool left = parent->left == t;
        struct tree_timer *other = left ? parent->right : parent->left;

        if (is_red(other)) {
            paint(other, false);
            paint(parent, true);
            (left ? rotate_left : rotate_right)(parent);
            other = left ? parent->right : parent->left;
        }
        struct tree_timer *near = left ? other->left : other->right;
        struct tree_timer *far = left ? other->right : other->left;
        if (!is_red(near) && !is_red(far)) {
            paint(other, true);
            t = parent;
            parent = parent_of(t);
            continue;
        }
        if (!is_red(far)) {
            paint(near, false);
            paint(other, true);
            (left ? rotate_right : rotate_left)(other);
            far = other;
            other = near;
        }
        paint(other, is_red(parent));
        paint(parent, false);
        paint(far, false);
        (left ? rotate_left : rotate_right)(parent);
        return;
    }
    if (t != NULL) {
        paint(t, false);
    }
}

/* Returns the next timer in order; the earliest has no left child. */
static struct tree_timer *
next_after_earliest(const struct tree *tree)
{
    struct tree_timer *t = tree->earliest;

    if (t->right == NULL) {
        t = parent_of(t);
        return t == &tree->top ? NULL : t;
    }
    for (t = t->right; t->left != NULL; t = t->left) {
    }
    return t;
}

static void
remove_timer(struct tree *tree, struct tree_timer *t)
{
    struct tree_timer *parent = parent_of(t);

    if (t == tree->earliest) {
        tree->earliest = next_after_earliest(tree);
    }
    struct tree_timer *child = NULL;
    bool black = false;
    if (t->left == NULL || t->right == NULL) {
        child = t->left != NULL ? t->left : t->right;
        black = !is_red(t);
        replace_child(parent, t, child);
    } else {
        /* Its successor, which has no left child, replaces it. */
        struct tree_timer *next = t->right;

        while (next->left != NULL) {
            next = next->left;
        }
        black = !is_red(next);
        child = next->right;
        if (next == t->right) {
            replace_child(parent, t, next);
            parent = next;
        } else {
            struct tree_timer *below = parent_of(next);

            below->left = child;
            next->right = t->right;
            set_parent(next->right, next);
            replace_child(parent, t, next);
            parent = below;
        }
        next->left = t->left;
        set_parent(next->left, next);
        next->parent = t->parent;
    }
    if (child != NULL) {
        set_parent(child, parent);
    }
    if (black) {
        rebalance_removed(tree, parent, child);
    }
    t->parent = 0;
}

static void *
make(const struct contender_setup *setup)
{
    struct tree *tree = calloc(1, sizeof(*tree));

    if (tree != NULL) {
        tree->now = setup->now;
    }
    return tree;
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    struct tree *tree = (struct tree *)self;
    struct tree_timer *t = (struct tree_timer *)(void *)object->node;

    if (t->parent != 0) {
        remove_timer(tree, t);
    }
    t->deadline = links_deadline(tree->now, ttl);
    insert(tree, t);
}

static bool
stop(void *self, struct object *object)
{
    struct tree_timer *t = (struct tree_timer *)(void *)object->node;

    if (t->parent == 0) {
        return false;
    }
    remove_timer((struct tree *)self, t);
    return true;
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct tree *tree = (struct tree *)self;
    size_t fired = 0;

    tree->now = now;
    while (fired < budget && tree->earliest != NULL &&
           tree->earliest->deadline <= now) {
        struct tree_timer *t = tree->earliest;

        remove_timer(tree, t);
        fire(links_object(t), arg);
        fired++;
    }
    return fired;
}

static uint64_t
next_deadline(void *self)
{
    const struct tree *tree = (const struct tree *)self;

    return tree->earliest != NULL ? tree->earliest->deadline : LINKS_NEVER;
}

const struct contender tree_contender = {
    .abi = CONTENDER_ABI,
    .name = "tree",
    .title = "red-black tree",
    .about = "An intrusive red-black tree with a pointer to the earliest "
             "timer. Start and stop O(log n), no allocation.",
    .kind = CONTENDER_PAPER,
    .flags =
        CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_FIFO | CONTENDER_BUDGET,
    .node = sizeof(struct tree_timer),
    .make = make,
    .free = free,
    .start = start,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
};
