/* tree.c - a red-black tree in the objects, the earliest timer remembered.
 *
 * Timers of equal deadlines stand in the order of their starts. The colour is
 * kept in the lowest bit of the pointer to the parent. All operations
 * O(log n), but finding the earliest O(1).
 */
#include "all.h"
#include "links.h"

#include <stdlib.h>

/* Idle: parent == 0. The root's parent is the tree's own node `top`, whose left
 * child is the root: so no running timer has parent 0, and no rotation is a
 * special case. */
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
tree_parent(const struct tree_timer *t)
{
    return (struct tree_timer *)(t->parent & ~(uintptr_t)TREE_RED);
}

static inline bool
tree_red(const struct tree_timer *t)
{
    return t != NULL && (t->parent & TREE_RED) != 0;
}

static inline void
tree_set_parent(struct tree_timer *t, struct tree_timer *parent)
{
    t->parent = (uintptr_t)parent | (t->parent & TREE_RED);
}

static inline void
tree_paint(struct tree_timer *t, bool red)
{
    t->parent = (t->parent & ~(uintptr_t)TREE_RED) | (red ? TREE_RED : 0);
}

/* Puts t where old was under parent. */
static inline void
tree_replace(struct tree_timer *parent, const struct tree_timer *old,
             struct tree_timer *t)
{
    if (parent->left == old) {
        parent->left = t;
    } else {
        parent->right = t;
    }
}

/* The right child goes up, t down to its left. */
static void
tree_turn_left(struct tree_timer *t)
{
    struct tree_timer *up = t->right;
    struct tree_timer *parent = tree_parent(t);

    t->right = up->left;
    if (t->right != NULL) {
        tree_set_parent(t->right, t);
    }
    up->left = t;
    tree_replace(parent, t, up);
    tree_set_parent(up, parent);
    tree_set_parent(t, up);
}

static void
tree_turn_right(struct tree_timer *t)
{
    struct tree_timer *up = t->left;
    struct tree_timer *parent = tree_parent(t);

    t->left = up->right;
    if (t->left != NULL) {
        tree_set_parent(t->left, t);
    }
    up->right = t;
    tree_replace(parent, t, up);
    tree_set_parent(up, parent);
    tree_set_parent(t, up);
}

/* t is red, and so may its parent be. */
static void
tree_mend_insert(struct tree *tree, struct tree_timer *t)
{
    struct tree_timer *parent;

    while (tree_red(parent = tree_parent(t))) {
        struct tree_timer *grand = tree_parent(parent);
        bool left = grand->left == parent;
        struct tree_timer *uncle = left ? grand->right : grand->left;

        if (tree_red(uncle)) {
            tree_paint(parent, false);
            tree_paint(uncle, false);
            tree_paint(grand, true);
            t = grand;
            continue;
        }
        if (left) {
            if (parent->right == t) {
                tree_turn_left(parent);
                parent = t;
            }
            tree_turn_right(grand);
        } else {
            if (parent->left == t) {
                tree_turn_right(parent);
                parent = t;
            }
            tree_turn_left(grand);
        }
        tree_paint(parent, false);
        tree_paint(grand, true);
        break;
    }
    tree_paint(tree->top.left, false);
}

static void
tree_insert(struct tree *tree, struct tree_timer *t)
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
    tree_mend_insert(tree, t);
}

/* The side of parent on which t stands, or stood, is one black short. */
static void
tree_mend_remove(struct tree *tree, struct tree_timer *parent,
                 struct tree_timer *t)
{
    while (parent != &tree->top && !tree_red(t)) {
        bool left = parent->left == t;
        struct tree_timer *other = left ? parent->right : parent->left;
        struct tree_timer *near, *far;

        if (tree_red(other)) {
            tree_paint(other, false);
            tree_paint(parent, true);
            (left ? tree_turn_left : tree_turn_right)(parent);
            other = left ? parent->right : parent->left;
        }
        near = left ? other->left : other->right;
        far = left ? other->right : other->left;
        if (!tree_red(near) && !tree_red(far)) {
            tree_paint(other, true);
            t = parent;
            parent = tree_parent(t);
            continue;
        }
        if (!tree_red(far)) {
            tree_paint(near, false);
            tree_paint(other, true);
            (left ? tree_turn_right : tree_turn_left)(other);
            far = other;
            other = near;
        }
        tree_paint(other, tree_red(parent));
        tree_paint(parent, false);
        tree_paint(far, false);
        (left ? tree_turn_left : tree_turn_right)(parent);
        return;
    }
    if (t != NULL) {
        tree_paint(t, false);
    }
}

/* The next in order; the earliest has no left child. */
static struct tree_timer *
tree_after_earliest(const struct tree *tree)
{
    struct tree_timer *t = tree->earliest;

    if (t->right == NULL) {
        t = tree_parent(t);
        return t == &tree->top ? NULL : t;
    }
    for (t = t->right; t->left != NULL; t = t->left) {
    }
    return t;
}

static void
tree_remove(struct tree *tree, struct tree_timer *t)
{
    struct tree_timer *parent = tree_parent(t);
    struct tree_timer *child;
    bool black;

    if (t == tree->earliest) {
        tree->earliest = tree_after_earliest(tree);
    }
    if (t->left == NULL || t->right == NULL) {
        child = t->left != NULL ? t->left : t->right;
        black = !tree_red(t);
        tree_replace(parent, t, child);
    } else {
        /* Its successor, which has no left child, takes its place. */
        struct tree_timer *next = t->right;

        while (next->left != NULL) {
            next = next->left;
        }
        black = !tree_red(next);
        child = next->right;
        if (next == t->right) {
            tree_replace(parent, t, next);
            parent = next;
        } else {
            struct tree_timer *below = tree_parent(next);

            below->left = child;
            next->right = t->right;
            tree_set_parent(next->right, next);
            tree_replace(parent, t, next);
            parent = below;
        }
        next->left = t->left;
        tree_set_parent(next->left, next);
        next->parent = t->parent;
    }
    if (child != NULL) {
        tree_set_parent(child, parent);
    }
    if (black) {
        tree_mend_remove(tree, parent, child);
    }
    t->parent = 0;
}

static void *
tree_make(const struct contender_setup *setup)
{
    struct tree *tree = calloc(1, sizeof *tree);

    if (tree != NULL) {
        tree->now = setup->now;
    }
    return tree;
}

static void
tree_start(void *self, struct object *object, uint64_t ttl)
{
    struct tree *tree = (struct tree *)self;
    struct tree_timer *t = (struct tree_timer *)(void *)object->node;

    if (t->parent != 0) {
        tree_remove(tree, t);
    }
    t->deadline = links_deadline(tree->now, ttl);
    tree_insert(tree, t);
}

static bool
tree_stop(void *self, struct object *object)
{
    struct tree_timer *t = (struct tree_timer *)(void *)object->node;

    if (t->parent == 0) {
        return false;
    }
    tree_remove((struct tree *)self, t);
    return true;
}

static size_t
tree_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
         void *arg)
{
    struct tree *tree = (struct tree *)self;
    size_t fired = 0;

    tree->now = now;
    while (fired < budget && tree->earliest != NULL &&
           tree->earliest->deadline <= now) {
        struct tree_timer *t = tree->earliest;

        tree_remove(tree, t);
        fire(links_object(t), arg);
        fired++;
    }
    return fired;
}

static uint64_t
tree_next(void *self)
{
    const struct tree *tree = (const struct tree *)self;

    return tree->earliest != NULL ? tree->earliest->deadline : LINKS_NEVER;
}

const struct contender tree_contender = {
    .abi = CONTENDER_ABI,
    .name = "tree",
    .title = "red-black tree",
    .about = "A red-black tree in the objects, the earliest timer "
             "remembered. Start and stop O(log n), no allocation.",
    .kind = CONTENDER_PAPER,
    .flags =
        CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_FIFO | CONTENDER_BUDGET,
    .node = sizeof(struct tree_timer),
    .make = tree_make,
    .free = free,
    .start = tree_start,
    .stop = tree_stop,
    .mow = tree_mow,
    .next = tree_next,
};
