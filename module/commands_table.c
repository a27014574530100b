/* commands_table.c - the LAWN commands. In complexities that do not define n,
 * it is the number of events of the key.
 */
#include "commands.h"

#define KEY COMMANDS_ARG("key", KEY)
#define ID COMMANDS_ARG("id", STRING)
#define PAYLOAD COMMANDS_ARG("payload", STRING)
#define COUNT COMMANDS_ARG_COUNT
#define END COMMANDS_ARG_END
#define META                                                                   \
    {                                                                          \
        "meta", COMMAND_WORD, "META", COMMAND_OPTIONAL, NULL                   \
    }

static const struct command_arg commands_table_when_args[] = {
    {"delay", COMMAND_INTEGER, "DELAY", 0, NULL},
    {"unix-time-milliseconds", COMMAND_TIME, "AT", 0, NULL},
    END};
static const struct command_arg commands_table_to_args[] = {
    {"delay", COMMAND_INTEGER, "DELAY", 0, NULL},
    {"unix-time-milliseconds", COMMAND_TIME, "AT", 0, NULL},
    {"shift", COMMAND_INTEGER, "BY", 0, NULL},
    END};
static const struct command_arg commands_table_condition_args[] = {
    {"nx", COMMAND_WORD, "NX", 0, NULL},
    {"xx", COMMAND_WORD, "XX", 0, NULL},
    END};
static const struct command_arg commands_table_comparison_args[] = {
    {"gt", COMMAND_WORD, "GT", 0, NULL},
    {"lt", COMMAND_WORD, "LT", 0, NULL},
    END};
static const struct command_arg commands_table_every_args[] = {
    {"period", COMMAND_INTEGER, "EVERY", 0, NULL},
    {"times", COMMAND_INTEGER, "TIMES", COMMAND_OPTIONAL, NULL},
    END};
static const struct command_arg commands_table_pair_args[] = {ID, PAYLOAD, END};
static const struct command_arg commands_table_states_args[] = {
    {"waiting", COMMAND_WORD, "WAITING", 0, NULL},
    {"due", COMMAND_WORD, "DUE", 0, NULL},
    {"leased", COMMAND_WORD, "LEASED", 0, NULL},
    {"dead", COMMAND_WORD, "DEAD", 0, NULL},
    END};
static const struct command_arg commands_table_set_args[] = {
    {"setting", COMMAND_STRING, NULL, 0, NULL},
    {"value", COMMAND_STRING, NULL, 0, NULL},
    END};
static const struct command_arg commands_table_sets_args[] = {
    {"set", COMMAND_WORD, "SET", 0, NULL},
    {"data", COMMAND_BLOCK, NULL, COMMAND_MULTIPLE, commands_table_set_args},
    END};
static const struct command_arg commands_table_gets_args[] = {
    {"get", COMMAND_WORD, "GET", 0, NULL},
    {"setting", COMMAND_STRING, NULL, COMMAND_OPTIONAL | COMMAND_MULTIPLE,
     NULL},
    END};
static const struct command_arg commands_table_settings_args[] = {
    {"get", COMMAND_BLOCK, NULL, 0, commands_table_gets_args},
    {"set", COMMAND_BLOCK, NULL, 0, commands_table_sets_args},
    END};

static const struct command_arg commands_table_held_args[] = {
    ID, COMMANDS_ARG("token", INTEGER), END};
static const struct command_arg commands_table_about_args[] = {
    {"about", COMMAND_WORD, "~", COMMAND_OPTIONAL, NULL},
    {"threshold", COMMAND_INTEGER, NULL, 0, NULL},
    END};
static const struct command_arg commands_table_stream_args[] = {
    {"stream", COMMAND_KEY, "STREAM", 0, NULL},
    {"trim", COMMAND_BLOCK, "MAXLEN", COMMAND_OPTIONAL,
     commands_table_about_args},
    END};
static const struct command_arg commands_table_sinks_args[] = {
    {"stream", COMMAND_BLOCK, NULL, 0, commands_table_stream_args},
    {"list", COMMAND_KEY, "LIST", 0, NULL},
    {"channel", COMMAND_STRING, "PUBLISH", 0, NULL},
    {"shardchannel", COMMAND_STRING, "SPUBLISH", 0, NULL},
    {"none", COMMAND_WORD, "NONE", 0, NULL},
    END};

static const struct command_arg commands_table_push[] = {
    KEY,
    ID,
    PAYLOAD,
    {"when", COMMAND_ONEOF, NULL, 0, commands_table_when_args},
    {"condition", COMMAND_ONEOF, NULL, COMMAND_OPTIONAL,
     commands_table_condition_args},
    {"repetition", COMMAND_BLOCK, NULL, COMMAND_OPTIONAL,
     commands_table_every_args},
    {"jitter", COMMAND_INTEGER, "JITTER", COMMAND_OPTIONAL, NULL},
    {"tries", COMMAND_INTEGER, "TRIES", COMMAND_OPTIONAL, NULL},
    END};
static const struct command_arg commands_table_mpush[] = {
    KEY,
    {"when", COMMAND_ONEOF, NULL, 0, commands_table_when_args},
    {"count", COMMAND_INTEGER, NULL, 0, NULL},
    {"data", COMMAND_BLOCK, NULL, COMMAND_MULTIPLE, commands_table_pair_args},
    END};
static const struct command_arg commands_table_cancel[] = {
    KEY, {"id", COMMAND_STRING, NULL, COMMAND_MULTIPLE, NULL}, END};
static const struct command_arg commands_table_key[] = {KEY, END};
static const struct command_arg commands_table_id[] = {KEY, ID, END};
static const struct command_arg commands_table_get[] = {KEY, ID, META, END};
static const struct command_arg commands_table_update[] = {KEY, ID, PAYLOAD,
                                                           END};
static const struct command_arg commands_table_touch[] = {
    KEY,
    ID,
    {"when", COMMAND_ONEOF, NULL, 0, commands_table_to_args},
    {"comparison", COMMAND_ONEOF, NULL, COMMAND_OPTIONAL,
     commands_table_comparison_args},
    END};
static const struct command_arg commands_table_poll[] = {
    KEY,
    COUNT,
    {"milliseconds", COMMAND_INTEGER, "BLOCK", COMMAND_OPTIONAL, NULL},
    META,
    END};
static const struct command_arg commands_table_lease[] = {
    KEY,
    {"owner", COMMAND_STRING, NULL, 0, NULL},
    {"lease", COMMAND_INTEGER, "LEASE", COMMAND_OPTIONAL, NULL},
    COUNT,
    {"milliseconds", COMMAND_INTEGER, "BLOCK", COMMAND_OPTIONAL, NULL},
    END};
static const struct command_arg commands_table_ack[] = {
    KEY,
    {"data", COMMAND_BLOCK, NULL, COMMAND_MULTIPLE, commands_table_held_args},
    END};
static const struct command_arg commands_table_nack[] = {
    KEY,
    ID,
    COMMANDS_ARG("token", INTEGER),
    {"delay", COMMAND_INTEGER, "DELAY", COMMAND_OPTIONAL, NULL},
    END};
static const struct command_arg commands_table_extend[] = {
    KEY,
    ID,
    COMMANDS_ARG("token", INTEGER),
    {"lease", COMMAND_INTEGER, "LEASE", 0, NULL},
    END};
static const struct command_arg commands_table_sink[] = {
    KEY,
    {"sink", COMMAND_ONEOF, NULL, 0, commands_table_sinks_args},
    {"dead-letters", COMMAND_KEY, "DEADLETTER", COMMAND_OPTIONAL, NULL},
    END};
static const struct command_key commands_table_sink_keys[] = {
    {"STREAM", 2, "RW INSERT"},
    {"LIST", 2, "RW INSERT"},
    {"SPUBLISH", 2, "RO NOT_KEY"},
    {"DEADLETTER", -2, "RW INSERT"},
    {NULL, 0, NULL}};
static const struct command_arg commands_table_partition[] = {
    ID, {"partitions", COMMAND_INTEGER, NULL, 0, NULL}, END};
static const struct command_arg commands_table_len[] = {
    KEY,
    {"state", COMMAND_ONEOF, NULL, COMMAND_OPTIONAL,
     commands_table_states_args},
    END};
static const struct command_arg commands_table_scan[] = {
    KEY,
    {"cursor", COMMAND_INTEGER, NULL, 0, NULL},
    COUNT,
    {"state", COMMAND_ONEOF, "STATE", COMMAND_OPTIONAL,
     commands_table_states_args},
    {"pattern", COMMAND_PATTERN, "MATCH", COMMAND_OPTIONAL, NULL},
    END};
static const struct command_arg commands_table_config[] = {
    KEY,
    {"settings", COMMAND_ONEOF, NULL, 0, commands_table_settings_args},
    END};
static const struct command_arg commands_table_apply[] = {
    KEY,
    {"verb", COMMAND_STRING, NULL, 0, NULL},
    {"word", COMMAND_STRING, NULL, COMMAND_MULTIPLE, NULL},
    END};

const struct command command_lawn[] = {
    {"LAWN.PUSH", commands_push, "write deny-oom fast", -6, true, "RW UPDATE",
     "Adds an event that is due after a delay or at a time.",
     "O(1), with AT or JITTER O(log n) for n events pushed that way", "0.1.0",
     commands_table_push, NULL},
    {"LAWN.MPUSH", commands_mpush, "write deny-oom", -7, true, "RW UPDATE",
     "Adds events that are due at the same time, all or none.",
     "O(k) for k events; O(k log k) if the key has maxlen or maxbytes", "0.1.0",
     commands_table_mpush, NULL},
    {"LAWN.CANCEL", commands_cancel, "write fast", -3, true, "RW DELETE",
     "Removes events and returns how many existed.", "O(k) for k ids", "0.1.0",
     commands_table_cancel, NULL},
    {"LAWN.PULL", commands_pull, "write fast", 3, true, "RW ACCESS DELETE",
     "Removes an event, due or not, and returns its payload.", "O(1)", "0.1.0",
     commands_table_id, NULL},
    {"LAWN.GET", commands_get, "readonly fast", -3, true, "RO ACCESS",
     "Returns the payload of an event, or all its properties.", "O(1)", "0.1.0",
     commands_table_get, NULL},
    {"LAWN.UPDATE", commands_update, "write deny-oom fast", 4, true,
     "RW ACCESS UPDATE",
     "Replaces the payload of an event and returns the old one.", "O(1)",
     "0.1.0", commands_table_update, NULL},
    {"LAWN.TOUCH", commands_touch, "write fast", -5, true, "RW UPDATE",
     "Changes the due time of an event.",
     "O(1), with AT or BY O(log n) for n events moved that way", "0.1.0",
     commands_table_touch, NULL},
    {"LAWN.POLL", commands_poll, "write blocking", -2, true, "RW ACCESS DELETE",
     "Removes and returns due events, earliest first. With BLOCK, waits for "
     "the first one if none is due.",
     "O(k) for k returned events", "0.1.0", commands_table_poll, NULL},
    {"LAWN.LEASE", commands_lease, "write blocking", -3, true,
     "RW ACCESS UPDATE",
     "Leases due events to an owner for a limited time. With BLOCK, waits for "
     "the first one if none is due.",
     "O(k) for k events", "0.1.0", commands_table_lease, NULL},
    {"LAWN.ACK", commands_ack, "write fast", -4, true, "RW DELETE",
     "Acknowledges leased events: removes them, or schedules their next "
     "period.",
     "O(k) for k ids", "0.1.0", commands_table_ack, NULL},
    {"LAWN.NACK", commands_nack, "write fast", -4, true, "RW UPDATE",
     "Returns a leased event to the queue, to be delivered again.", "O(1)",
     "0.1.0", commands_table_nack, NULL},
    {"LAWN.EXTEND", commands_extend, "write fast", 6, true, "RW UPDATE",
     "Sets the end of the lease of an event to a time after now.", "O(1)",
     "0.1.0", commands_table_extend, NULL},
    {"LAWN.SINK", commands_sink, "write deny-script", -3, true, "RW UPDATE",
     "Sets where the server delivers the due events of a key, and the dead "
     "ones.",
     "O(1)", "0.1.0", commands_table_sink, commands_table_sink_keys},
    {"LAWN.PARTITION", commands_partition, "readonly fast", 3, false, NULL,
     "Returns the partition of an id, given the number of partitions.",
     "O(n) for an id of n bytes", "0.1.0", commands_table_partition, NULL},
    {"LAWN.NEXT", commands_next, "readonly fast", 2, true, "RO ACCESS",
     "Returns the milliseconds until the next event is due or the next lease "
     "ends.",
     "O(k) for k events that have become due, at most 1000", "0.1.0",
     commands_table_key, NULL},
    {"LAWN.LEN", commands_len, "readonly", -2, true, "RO",
     "Returns the number of events.",
     "O(1); with a state O(k) for k events that have become due, at most 1000",
     "0.1.0", commands_table_len, NULL},
    {"LAWN.SCAN", commands_scan, "readonly", -3, true, "RO ACCESS",
     "Iterates over the ids of events.",
     "O(COUNT) for each call, O(n) for a complete iteration", "0.1.0",
     commands_table_scan, NULL},
    {"LAWN.INFO", commands_info, "readonly", 2, true, "RO",
     "Returns the contents and statistics of a key.",
     "O(lawn.max-ttls), and O(k) for k events that have become due, at most "
     "1000",
     "0.1.0", commands_table_key, NULL},
    {"LAWN.CONFIG", commands_config, "write", -3, true, "RW ACCESS UPDATE",
     "Returns or changes the settings of a key.", "O(1)", "0.1.0",
     commands_table_config, NULL},
    {"LAWN.PAUSE", commands_pause, "write fast", 2, true, "RW UPDATE",
     "Stops the delivery of due events of a key.", "O(1)", "0.1.0",
     commands_table_key, NULL},
    {"LAWN.RESUME", commands_resume, "write fast", 2, true, "RW UPDATE",
     "Resumes the delivery of due events of a key.", "O(1)", "0.1.0",
     commands_table_key, NULL},
    {"LAWN.APPLY", apply_command, "write admin deny-script", -4, true,
     "RW UPDATE",
     "Internal: applies a replicated change. For replicas and append-only "
     "files.",
     "O(k) for k arguments", "0.1.0", commands_table_apply, NULL},
    {NULL, NULL, NULL, 0, false, NULL, NULL, NULL, NULL, NULL, NULL}};
