/* top.h - "lawn top": servers, their queues, and the display.
 *
 * A node is one server: given by a URL, or found through a cluster. It is
 * queried in rounds (conversation.c), in which a reply may lead to further
 * commands. All nodes are served concurrently with poll() (top.c). The results
 * are printed as a table (table.c), as JSON or for Prometheus (export.c).
 *
 * The load on a server per round is limited: TOP_PAGES calls of SCAN, and
 * TOP_ASKED queues. If there are more queues than that, a round queries at most
 * TOP_ASKED / 2 of the shown queues, and then other queues in turn. With
 * --once, all queues that SCAN finds within TOP_SEARCH are queried.
 */
#ifndef LAWN_MODULE_TOP_H
#define LAWN_MODULE_TOP_H

#include "options.h"
#include "resp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const struct options_verb top_verb;

#define TOP_SECOND UINT64_C(1000000000)
#define TOP_NODES 4096    /* in all clusters */
#define TOP_QUEUES 100000 /* per node; others are ignored */
#define TOP_PAGES 16      /* SCANs per round, of TOP_PAGE keys */
#define TOP_PAGE "1000"
#define TOP_ASKED 1000               /* queues queried per round */
#define TOP_AHEAD 128                /* commands without a reply */
#define TOP_SEARCH (10 * TOP_SECOND) /* time limit of --once to find keys */
#define TOP_FIGURES 96               /* fields of INFO lawn */
#define TOP_ABSENT INT64_MIN         /* a value that was not reported */

/* The address of a server. With a path it is a Unix socket. */
struct top_url {
    char *host;
    char *port;
    char *path;
    char *user;     /* NULL: the default user */
    char *password; /* NULL: none; never printed */
    char *db;       /* digits */
};

/* The numeric fields of LAWN.INFO: see top_fields. An older module reports
 * fewer; the others are TOP_ABSENT. */
enum top_field {
    TOP_LEN,
    TOP_WAITING,
    TOP_DUE,
    TOP_LEASED,
    TOP_DEAD,
    TOP_NEXT,
    TOP_OLDEST,
    TOP_PUSHED, /* from here on counters, which have rates */
    TOP_FIRED,
    TOP_ACKED,
    TOP_REDELIVERED,
    TOP_HANDED,
    TOP_MISSED,
    TOP_DROPPED,
    TOP_LEASES,
    TOP_DIED,
    TOP_ERRORS,
    TOP_LATE_P50, /* no counters from here on */
    TOP_LATE_P99,
    TOP_LATE_MAX,
    TOP_TTLS,
    TOP_BYTES,
    TOP_DATA,
    TOP_PAUSED,
    TOP_FIELDS,
};
#define TOP_COUNTS TOP_PUSHED
#define TOP_RATES (TOP_LATE_P50 - TOP_COUNTS)

/* The text fields of LAWN.INFO. */
enum top_word {
    TOP_SINK,
    TOP_SINK_TO,
    TOP_SINK_ERROR,
    TOP_DEAD_LETTER,
    TOP_WORDS,
};

struct top_field_names {
    const char *told;       /* name in LAWN.INFO */
    const char *prometheus; /* name without "lawn_queue_" */
    const char *help;
};
extern const struct top_field_names top_fields[TOP_FIELDS];
extern const char *const top_words[TOP_WORDS];

/* A queue. rates[] is negative where no rate is known yet. */
struct top_queue {
    char *key;
    size_t size;
    uint64_t hash;
    uint64_t at; /* time of the last report, in ns; 0: none yet */
    int64_t figures[TOP_FIELDS];
    double rates[TOP_RATES];
    char *words[TOP_WORDS]; /* NULL: not reported */
    bool gone;
    bool shown;
};

/* The queues of a node: list[0 .. count), and a hash table of their indexes
 * plus one. */
struct top_queues {
    struct top_queue **list;
    size_t count;
    size_t room;
    uint32_t *table;
    size_t slots; /* a power of two */
    bool more;    /* there are more than TOP_QUEUES */
};

/* A line of INFO lawn; the name includes "lawn_". */
struct top_figure {
    char name[48];
    int64_t value;
    double rate; /* negative: unknown */
};

struct top_figures {
    struct top_figure list[TOP_FIGURES];
    size_t count;
    uint64_t at;
};

/* A command that was not answered yet; queue is NULL if it is not about one. */
struct top_asked {
    enum top_question {
        TOP_ASK_AUTH,
        TOP_ASK_SELECT,
        TOP_ASK_SERVER,
        TOP_ASK_ROLE,
        TOP_ASK_CLUSTER,
        TOP_ASK_TIME,
        TOP_ASK_LAWN,
        TOP_ASK_NODES,
        TOP_ASK_SCAN,
        TOP_ASK_QUEUE,
        TOP_ASK_DUE,
    } question;
    struct top_queue *queue;
};

enum top_state {
    TOP_IDLE,       /* between two rounds */
    TOP_CONNECTING, /* from here on: in a round */
    TOP_TALKING,
};

struct top_node {
    struct top_url url;
    char *name;   /* host:port or the path, for display */
    size_t group; /* the node of the URL that led to this one */
    char id[48];  /* in its cluster; empty: unknown */
    bool told;    /* found through a cluster, not a URL */
    bool listed;  /* in the last list of its cluster */
    bool clustered;
    bool replica;
    bool answered;    /* the last round was successful */
    char error[320];  /* the error otherwise */
    char version[64]; /* "redis 7.0.15" */
    int64_t clock;    /* how far the server's clock is ahead of ours, in ms */

    enum top_state state;
    int socket;      /* -1: none */
    size_t attempts; /* addresses of the host that were tried */
    int refused_by;  /* error of the last attempt */
    uint64_t deadline;
    struct resp_reader in;
    struct resp_writer out;
    struct top_asked asked[TOP_AHEAD + 16]; /* a ring */
    size_t asked_first;
    size_t asked_count;

    struct top_figures figures;
    struct top_queues queues;
    char cursor[24]; /* of SCAN */
    size_t pages;    /* scanned in this round */
    bool searched;   /* all keys were scanned, or all queues are known */
    struct top_queue **plan; /* the queues to query in this round */
    size_t planned;
    size_t plan_at;
    size_t turn;    /* index of the queue that has waited longest */
    size_t refused; /* queues to which access was denied */
    char refusal[160];
    uint64_t begun;
};

struct top_options {
    uint64_t every_ns;
    uint64_t timeout_ns;
    uint64_t keys;
    size_t sort;
    bool once;
    bool json;
    bool prometheus;
    struct options_operands urls;
};

struct top_row {
    const struct top_node *node;
    struct top_queue *queue;
};

struct top {
    const struct top_options *options;
    struct top_node **nodes;
    size_t count;
    struct top_row *rows; /* in display order */
    size_t rows_count;
    uint64_t now;      /* ns, monotonic */
    uint64_t clock_ms; /* wall clock */
};

/* url.c. Parses a URL. Returns NULL, or the error. */
const char *top_url_read(struct top_url *url, char *text);
void top_url_fini(struct top_url *url);
/* Returns the name of the server for display; NULL if memory allocation
 * fails. */
char *top_url_name(const struct top_url *url);
/* Hides the password in the text of a URL, which may be invalid in any way. */
void top_url_hide(char *text);

/* queues.c */
struct top_queue *top_queues_add(struct top_queues *queues, const char *key,
                                 size_t size);
void top_queues_sweep(struct top_queues *queues); /* removes deleted queues */
void top_queues_fini(struct top_queues *queues);
/* Parses the reply to LAWN.INFO. Returns false if it is invalid. */
bool top_queue_read(struct top_queue *queue, const struct resp_value *reply,
                    uint64_t now);
/* Sets the number of due events, from a separate command. */
void top_queue_due(struct top_queue *queue, int64_t due);
void top_figures_read(struct top_figures *figures, const char *text,
                      size_t size, uint64_t now);
const struct top_figure *top_figures_find(const struct top_figures *figures,
                                          const char *name);
/* Returns the value of the line of INFO that begins with name and a colon; NULL
 * if there is none. */
const char *top_info_line(const char *text, size_t size, const char *name,
                          size_t *length);

/* link.c: the socket of a node. These return 0, or -errno after the node has
 * failed. A host may have several addresses; each call of top_link_open() tries
 * the next one. */
int top_link_open(struct top_node *node);
/* Returns 1 if this address failed and another one is tried. */
int top_link_connected(struct top_node *node);
int top_link_write(struct top_node *node);
int top_link_read(struct top_node *node);
void top_link_close(struct top_node *node);

/* conversation.c: begin a round; continue it when its socket is ready; end it
 * with an error. */
void top_conversation_begin(struct top *top, struct top_node *node);
void top_conversation_continue(struct top *top, struct top_node *node,
                               short events);
void top_conversation_fail(struct top_node *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* nodes.c: the servers. */
struct top_node *top_nodes_add(struct top *top, struct top_url *url);
void top_nodes_read(struct top *top, struct top_node *node, const char *text,
                    size_t size);
void top_nodes_sweep(struct top *top);
void top_nodes_fini(struct top *top);
/* Returns true if this node is to be asked for its cluster's nodes. */
bool top_nodes_asks(const struct top *top, const struct top_node *node);

/* rows.c: sorts all queues in display order. Returns false if memory allocation
 * fails. */
extern const char *const top_sorts[]; /* NULL after the last */
bool top_rows_make(struct top *top);
/* Returns the sum of a field of INFO lawn, and of its rate, over all servers;
 * TOP_ABSENT and a negative rate if no server reports it. */
struct top_figure top_sum(const struct top *top, const char *name);

/* table.c: prints the table for a screen of this size. columns 0: there is no
 * screen, and numbers are printed in full. Returns false if memory allocation
 * fails. */
bool top_table_write(const struct top *top, size_t columns, size_t rows);

/* escape.c: converts a text from a server to printable ASCII, with \xNN for
 * other bytes. Writes at most `most` characters, and not more than room - 1; a
 * longer text ends with "...". Returns the length. */
size_t top_escape(const char *text, size_t size, size_t most, char *out,
                  size_t room);

/* export.c */
void top_export_json(const struct top *top);
void top_export_prometheus(const struct top *top);

#endif
