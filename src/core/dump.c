/* dump.c - prints a lawn and its classes for people and programs.
 *
 * A value is printed as `name value` or as a member of a JSON object. The time
 * LAWN_NEVER and a missing name are null in JSON, and "never" and "-" in text.
 */
#include "class.h"

#if !defined LAWN_FREESTANDING

/* The text `before` is printed before the next value, as a separator. */
struct lawn_dumping {
    FILE *out;
    bool json;
    const char *before;
};

static void
print_key(struct lawn_dumping *dumping, const char *key)
{
    (void)fprintf(dumping->out, dumping->json ? "%s\"%s\":" : "%s%s ",
                  dumping->before, key);
    dumping->before = dumping->json ? "," : ", ";
}

static void
print_number(struct lawn_dumping *dumping, const char *key, uint64_t number)
{
    print_key(dumping, key);
    (void)fprintf(dumping->out, "%llu", (unsigned long long)number);
}

static void
print_time(struct lawn_dumping *dumping, const char *key, uint64_t time)
{
    if (time != LAWN_NEVER) {
        print_number(dumping, key, time);
    } else {
        print_key(dumping, key);
        (void)fputs(dumping->json ? "null" : "never", dumping->out);
    }
}

static void
print_boolean(struct lawn_dumping *dumping, const char *key, bool value)
{
    print_key(dumping, key);
    (void)fputs(dumping->json ? value ? "true" : "false"
                : value       ? "yes"
                              : "no",
                dumping->out);
}

/* Names are also escaped in text output, so that each stays on one line. */
static void
print_name(struct lawn_dumping *dumping, const char *name)
{
    print_key(dumping, dumping->json ? "name" : "class");
    if (name == NULL) {
        (void)fputs(dumping->json ? "null" : "-", dumping->out);
        return;
    }
    (void)fputc('"', dumping->out);
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;

        if (c < 0x20 || c == 0x7f) {
            (void)fprintf(dumping->out, "\\u%04x", c);
        } else {
            if (c == '"' || c == '\\') {
                (void)fputc('\\', dumping->out);
            }
            (void)fputc(c, dumping->out);
        }
    }
    (void)fputc('"', dumping->out);
}

static void
print_class(struct lawn_dumping *dumping, const struct lawn_class *cls)
{
    struct lawn_class_counters stats;

    lawn_class_stats(cls, &stats);
    print_name(dumping, stats.name);
    print_number(dumping, "ttl", stats.ttl);
    print_number(dumping, "count", stats.count);
    print_number(dumping, "detached", stats.detached);
    print_number(dumping, "starts", stats.starts);
    print_number(dumping, "stops", stats.stops);
    print_number(dumping, "fires", stats.fires);
    print_number(dumping, "late", stats.late);
    print_number(dumping, "late_max", stats.late_max);
    print_time(dumping, "next", stats.next);
    print_time(dumping, "last", stats.last);
    print_number(dumping, "weight", stats.weight);
    print_boolean(dumping, "paused", stats.paused);
}

static void
print_lawn(struct lawn_dumping *dumping, const struct lawn *lawn)
{
    struct lawn_counters stats;

    lawn_stats(lawn, &stats);
    print_number(dumping, "now", lawn->now);
    print_number(dumping, "resolution", lawn->resolution);
    print_number(dumping, "count", lawn_count(lawn));
    print_number(dumping, "starts", stats.starts);
    print_number(dumping, "stops", stats.stops);
    print_number(dumping, "fires", stats.fires);
    print_number(dumping, "unqueued_starts", stats.unqueued_starts);
    print_number(dumping, "moved", stats.moved);
    print_number(dumping, "looked", stats.looked);
    print_number(dumping, "live_blades", stats.live_blades);
    print_number(dumping, "blades", stats.blades);
    print_number(dumping, "bytes", stats.bytes);
}

void
lawn_dump(const struct lawn *lawn, FILE *out, bool json)
{
    struct lawn_dumping dumping = {out, json, ""};
    const char *separator = "";

    (void)fputs(json ? "{" : "lawn: ", out);
    print_lawn(&dumping, lawn);
    if (json) {
        print_key(&dumping, "classes");
    }
    (void)fputs(json ? "[" : "\n", out);
    for (const struct lawn_class *cls = lawn_class_each(lawn, NULL);
         cls != NULL; cls = lawn_class_each(lawn, cls)) {
        dumping.before = "";
        (void)fputs(json ? separator : "", out);
        (void)fputs(json ? "{" : "", out);
        print_class(&dumping, cls);
        (void)fputs(json ? "}" : "\n", out);
        separator = ",";
    }
    (void)fputs(json ? "]}" : "", out);
}

#endif
