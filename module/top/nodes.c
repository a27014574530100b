/* nodes.c - the servers that "lawn top" queries: those of the URLs, and the
 * masters of their clusters.
 *
 * One node of each cluster is asked for the masters in each round: that of the
 * URL, or another one if that is down. A node is identified by its id, because
 * it may have several addresses. A listed node that is no longer a master is
 * removed.
 */
#include "top.h"

#include <stdlib.h>
#include <string.h>

static void
free_node(struct top_node *node)
{
    if (node == NULL) {
        return;
    }
    top_link_close(node);
    top_queues_fini(&node->queues);
    top_url_fini(&node->url);
    free(node->plan);
    free(node->name);
    free(node);
}

void
top_nodes_fini(struct top *top)
{
    for (size_t i = 0; i < top->count; i++) {
        free_node(top->nodes[i]);
    }
    free(top->nodes);
    top->nodes = NULL;
    top->count = 0;
}

struct top_node *
top_nodes_add(struct top *top, struct top_url *url)
{
    struct top_node *node = calloc(1, sizeof(*node));
    struct top_node **nodes =
        realloc(top->nodes, (top->count + 1) * sizeof(*nodes));
    char *name = top_url_name(url);
    if (nodes != NULL) {
        top->nodes = nodes;
    }
    if (node == NULL || nodes == NULL || name == NULL) {
        free(node);
        free(name);
        top_url_fini(url);
        return NULL;
    }
    node->url = *url;
    node->name = name;
    node->group = top->count;
    node->socket = -1;
    memcpy(node->cursor, "0", 2);
    top->nodes[top->count++] = node;
    return node;
}

bool
top_nodes_asks(const struct top *top, const struct top_node *node)
{
    for (size_t i = 0; i < top->count; i++) {
        const struct top_node *other = top->nodes[i];
        if (other->group != node->group) {
            continue;
        }
        if (other == node) {
            return true;
        }
        /* An earlier node of the cluster is asked, unless it is known to be
         * down. */
        if (other->answered || other->error[0] == '\0') {
            return false;
        }
    }
    return true;
}

/* Returns the next word of a line, terminated by a zero; NULL if there is
 * none. */
static char *
next_word(char **line)
{
    char *word = *line + strspn(*line, " ");
    if (*word == '\0') {
        return NULL;
    }
    char *end = word + strcspn(word, " ");
    *line = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

static bool
list_has(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; *at != '\0';) {
        size_t length = strcspn(at, ",");
        if (length == size && memcmp(at, word, size) == 0) {
            return true;
        }
        at += length + (at[length] == ',');
    }
    return false;
}

static char *
copy_text(const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    char *copy = size > 0 ? malloc(size) : NULL;
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}

/* Adds the master at "ip:port@bus,name" of the node's cluster. */
static void
add_master(struct top *top, const struct top_node *node, const char *id,
           char *address)
{
    struct top_url url = {0};
    address[strcspn(address, "@,")] = '\0';
    char *colon = strrchr(address, ':');
    if (colon == NULL || colon[1] == '\0' || top->count >= TOP_NODES) {
        return;
    }
    *colon = '\0';
    /* A node that does not know its own address has the address that we
     * used. */
    url.host = copy_text(*address != '\0' ? address : node->url.host);
    url.port = copy_text(colon + 1);
    url.db = copy_text("0");
    url.user = copy_text(node->url.user);
    url.password = copy_text(node->url.password);
    if (url.host == NULL || url.port == NULL || url.db == NULL) {
        top_url_fini(&url);
        return;
    }
    struct top_node *master = top_nodes_add(top, &url);
    if (master == NULL) {
        return;
    }
    master->group = node->group;
    master->told = true;
    master->listed = true;
    master->clustered = true;
    memcpy(master->id, id, strlen(id) + 1);
    top_conversation_begin(top, master);
}

static struct top_node *
find_node(const struct top *top, const char *id)
{
    for (size_t i = 0; i < top->count; i++) {
        if (strcmp(top->nodes[i]->id, id) == 0) {
            return top->nodes[i];
        }
    }
    return NULL;
}

/* id address flags master ping pong epoch link slots... */
static void
read_line(struct top *top, struct top_node *node, char *line)
{
    const char *id = next_word(&line);
    char *address = next_word(&line);
    const char *flags = next_word(&line);
    if (flags == NULL || strlen(id) >= sizeof(node->id)) {
        return;
    }
    if (list_has(flags, "myself")) {
        struct top_node *twin = find_node(top, id);
        if (twin != NULL && twin != node && twin->told) {
            twin->listed = false;
        }
        memcpy(node->id, id, strlen(id) + 1);
        node->listed = true;
    }
    if (!list_has(flags, "master") || list_has(flags, "noaddr") ||
        list_has(flags, "handshake") || list_has(flags, "fail")) {
        return;
    }
    struct top_node *known = find_node(top, id);
    if (known == NULL) {
        add_master(top, node, id, address);
    } else if (known->group == node->group) {
        known->listed = true;
    }
}

void
top_nodes_read(struct top *top, struct top_node *node, const char *text,
               size_t size)
{
    char *copy = malloc(size + 1);
    if (copy == NULL) {
        return;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    for (size_t i = 0; i < top->count; i++) {
        if (top->nodes[i]->group == node->group) {
            top->nodes[i]->listed = false;
        }
    }
    for (char *line = copy; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        char *next = line + length + (line[length] == '\n');
        line[length] = '\0';
        read_line(top, node, line);
        line = next;
    }
    free(copy);
}

void
top_nodes_sweep(struct top *top)
{
    size_t kept = 0;
    for (size_t i = 0; i < top->count; i++) {
        struct top_node *node = top->nodes[i];
        if (node->told && !node->listed && node->state == TOP_IDLE) {
            free_node(node);
        } else {
            top->nodes[kept++] = node;
        }
    }
    top->count = kept;
}
