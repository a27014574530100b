/* top.h - "lawn top": servers, their queues, and what is shown of them.
 *
 * A node is one server: given by a URL, or told by a cluster. It is asked in
 * rounds; a round is a conversation, in which each reply may lead to further
 * questions (conversation.c). All nodes talk at once, by poll() (top.c). What they said
 * is written as a table (table.c), on a screen, as JSON or for
 * Prometheus (export.c).
 *
 * A server's work for one round is bounded: TOP_PAGES calls of SCAN, and TOP_ASKED
 * queues. With more of them each is asked in its turn; those that are shown, each
 * time. With --once all are asked, for TOP_SEARCH at most.
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
#define TOP_NODES 4096    /* of all clusters */
#define TOP_QUEUES 100000 /* of a node; others are left out */
#define TOP_PAGES 16      /* SCANs in a round, of TOP_PAGE keys */
#define TOP_PAGE "1000"
#define TOP_ASKED 1000               /* queues that are asked in a round */
#define TOP_AHEAD 128                /* questions without an answer */
#define TOP_SEARCH (10 * TOP_SECOND) /* how long --once looks for keys */
#define TOP_FIGURES 96               /* of INFO lawn */
#define TOP_ABSENT INT64_MIN         /* a figure that was not told */

/* Where a server is. With a path it is a socket of this machine. */
struct top_url {
    char *host;
    char *port;
    char *path;
    char *user;     /* NULL: the default one */
    char *password; /* NULL: none; never printed */
    char *db;       /* digits */
};

/* What LAWN.INFO tells of a queue, by number: see top_fields. A module of another
 * age tells fewer; then they are TOP_ABSENT. */
enum top_field {
    TOP_LEN,
    TOP_WAITING,
    TOP_DUE,
    TOP_LEASED,
    TOP_DEAD,
    TOP_NEXT,
    TOP_OLDEST,
    TOP_PUSHED, /* from here on counts, of which there are rates */
    TOP_FIRED,
    TOP_ACKED,
    TOP_REDELIVERED,
    TOP_HANDED,
    TOP_MISSED,
    TOP_DROPPED,
    TOP_LEASES,
    TOP_DIED,
    TOP_ERRORS,
    TOP_LATE_P50, /* to here */
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

/* And in words. */
enum top_word {
    TOP_SINK,
    TOP_SINK_TO,
    TOP_SINK_ERROR,
    TOP_DEAD_LETTER,
    TOP_WORDS,
};

struct top_field_names {
    const char *told;       /* by LAWN.INFO */
    const char *prometheus; /* without "lawn_queue_" */
    const char *help;
};
extern const struct top_field_names top_fields[TOP_FIELDS];
extern const char *const top_words[TOP_WORDS];

/* A queue. rate[] is negative where there is none yet. */
struct top_queue {
    char *key;
    size_t size;
    uint64_t hash;
    uint64_t at; /* when it was told, in ns; 0: not yet */
    int64_t figures[TOP_FIELDS];
    double rates[TOP_RATES];
    char *words[TOP_WORDS]; /* NULL: not told */
    bool gone;
    bool shown;
};

/* The queues of a node: list[0 .. count), and a table of places in it, plus one,
 * by hash. */
struct top_queues {
    struct top_queue **list;
    size_t count;
    size_t room;
    uint32_t *table;
    size_t slots; /* a power of two */
    bool more;    /* than TOP_QUEUES */
};

/* A line of INFO lawn, its name with "lawn_". */
struct top_figure {
    char name[48];
    int64_t value;
    double rate; /* negative: none */
};

struct top_figures {
    struct top_figure list[TOP_FIGURES];
    size_t count;
    uint64_t at;
};

/* A question that has not been answered; most are of no queue. */
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
    TOP_IDLE,       /* a round is over */
    TOP_CONNECTING, /* in a round */
    TOP_TALKING,
};

struct top_node {
    struct top_url url;
    char *name;   /* host:port, or the path; for people */
    size_t group; /* the node that a URL gave and that led to this one */
    char id[48];  /* in its cluster; empty: not known */
    bool told;    /* by a cluster, not by a URL */
    bool listed;  /* in its cluster's last list */
    bool clustered;
    bool replica;
    bool answered;    /* the last round was a success */
    char error[320];  /* why not */
    char version[64]; /* "redis 7.0.15" */
    int64_t clock;    /* the server's, ahead of ours, in ms */

    enum top_state state;
    int socket;      /* -1: none */
    size_t attempts; /* addresses of the host that were tried */
    int refused_by;  /* the error of the last of them */
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
    bool searched;   /* all keys were looked at, or all queues are known */
    struct top_queue **plan; /* those to be asked in this round */
    size_t planned;
    size_t plan_at;
    size_t turn;    /* the place of the queue that has waited longest */
    size_t refused; /* queues that would not be asked */
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
    struct top_row *rows; /* to be shown first comes first */
    size_t rows_count;
    uint64_t now;      /* ns, monotonic */
    uint64_t clock_ms; /* wall clock */
};

/* url.c. NULL, or what is wrong with it. */
const char *top_url_read(struct top_url *url, char *text);
void top_url_fini(struct top_url *url);
/* What people call the server; NULL: no memory. */
char *top_url_name(const struct top_url *url);
/* The text of a URL, which may be wrong in any way, without its password. */
void top_url_hide(char *text);

/* queues.c */
struct top_queue *top_queues_add(struct top_queues *queues, const char *key,
                                 size_t size);
void top_queues_sweep(struct top_queues *queues); /* forgets those gone */
void top_queues_fini(struct top_queues *queues);
/* What LAWN.INFO said. False: it is not what it should be. */
bool top_queue_read(struct top_queue *queue, const struct resp_value *reply,
                    uint64_t now);
/* The number of those due was asked for. */
void top_queue_due(struct top_queue *queue, int64_t due);
/* What INFO lawn said. */
void top_figures_read(struct top_figures *figures, const char *text,
                      size_t size, uint64_t now);
const struct top_figure *top_figures_find(const struct top_figures *figures,
                                          const char *name);
/* The line of INFO that begins with name and a colon; NULL: none. */
const char *top_info_line(const char *text, size_t size, const char *name,
                          size_t *length);

/* link.c: the socket of a node. 0 or -errno, and then the node has failed.
 * A host may have several addresses; open() begins with the next one. */
int top_link_open(struct top_node *node);
/* 1: not with this address; another is tried. */
int top_link_connected(struct top_node *node);
int top_link_write(struct top_node *node);
int top_link_read(struct top_node *node);
void top_link_close(struct top_node *node);

/* conversation.c: begins a round; goes on with it when its socket is ready; ends it.
 * `once`: there will be no other. */
void top_conversation_begin(struct top *top, struct top_node *node);
void top_conversation_continue(struct top *top, struct top_node *node,
                               short events);
void top_conversation_fail(struct top_node *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* nodes.c: the servers. */
struct top_node *top_nodes_add(struct top *top, struct top_url *url);
void top_nodes_read(struct top *top, struct top_node *node, const char *text,
                    size_t size);
/* Forgets those that their cluster does not have any more. */
void top_nodes_sweep(struct top *top);
void top_nodes_fini(struct top *top);
/* Whether this one is to ask its cluster for the nodes. */
bool top_nodes_asks(const struct top *top, const struct top_node *node);

/* rows.c: all queues, sorted, those to be shown first. False: no memory. */
extern const char *const top_sorts[]; /* NULL after the last */
bool top_rows_make(struct top *top);
/* The sum of a figure of INFO lawn, and of its rate, over all servers; TOP_ABSENT,
 * and negative, if none has it. */
struct top_figure top_sum(const struct top *top, const char *name);

/* table.c: the table, for a screen of that size; columns 0: there is none, and
 * numbers are told in full. False: no memory. */
bool top_table_write(const struct top *top, size_t columns, size_t rows);

/* escape.c: a text of a server's, so that it is safe on a terminal: ASCII, the
 * rest as \xNN. At most `most` characters, and room - 1; one that does not fit ends
 * with "...". Returns its length. */
size_t top_escape(const char *text, size_t size, size_t most, char *out,
                  size_t room);

/* export.c */
void top_export_json(const struct top *top);
void top_export_prometheus(const struct top *top);

#endif
