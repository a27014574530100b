/* hosts.c - our own event loop does what the benchmark expects of one; broken ones
 * are found out. */
#include "common.h"
#include "host_agree.h"
#include "hosts/all.h"

#include <stdlib.h>
#include <string.h>

TEST(our_event_loop_does_what_it_is_asked_for)
{
    CHECK(host_agree_check(&lawn_host, stdout));
}

static unsigned calls;
static contender_fire_fn *tell;

static void
start_and_lose_some(void *self, struct object *object, uint64_t ttl)
{
    if (++calls % 10 != 0) {
        lawn_host.face.start(self, object, ttl);
    }
}

static void
start_early(void *self, struct object *object, uint64_t ttl)
{
    (void)ttl;
    lawn_host.face.start(self, object, 0);
}

static bool
stop_and_boast(void *self, struct object *object)
{
    (void)lawn_host.face.stop(self, object);
    return true;
}

static bool
stop_and_do_nothing(void *self, struct object *object)
{
    bool running = object->which == CONTENDER_ANY;

    object->which = 0;
    object->ttl = 1;
    lawn_host.face.start(self, object, object->ttl);
    return running;
}

static void
fire_twice(struct object *object, void *arg)
{
    tell(object, arg);
    tell(object, arg);
}

static void
turn_and_fire_twice(void *self)
{
    struct host_self *host = self;

    if (host->fire != fire_twice) {
        tell = host->fire;
        host->fire = fire_twice;
    }
    lawn_host.turn(self);
}

static void
serve_not(void *self)
{
    (void)self;
}

/* Whether it is found out, by a message that contains the words. */
static bool
is_refused(const struct host *broken, const char *words)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool agrees = host_agree_check(broken, out);

    fclose(out);
    bool says =
        strstr(text, "lawn disagrees: ") != NULL && strstr(text, words) != NULL;
    if (agrees || !says) {
        printf("%s", text);
    }
    free(text);
    return !agrees && says;
}

TEST(an_event_loop_whose_timers_are_wrong_is_refused)
{
    struct host broken = lawn_host;

    broken.face.start = start_and_lose_some;
    CHECK(is_refused(&broken, ""));
    broken.face.start = start_early;
    CHECK(is_refused(&broken, "fired early"));
    broken = lawn_host;
    broken.face.stop = stop_and_boast;
    CHECK(is_refused(&broken, "returned the wrong result"));
    broken.face.stop = stop_and_do_nothing;
    CHECK(is_refused(&broken, "a stopped timer fired"));
    broken = lawn_host;
    broken.turn = turn_and_fire_twice;
    CHECK(is_refused(&broken, "fired twice"));
    broken = lawn_host;
    broken.serve = serve_not;
    CHECK(is_refused(&broken, "ended before its timer"));
}

TEST(every_event_loop_has_a_name_of_its_own)
{
    size_t count = 0;
    const struct contender *const *all = contenders_of(PART_HOSTS, &count);

    CHECK(count >= 1 && all[0] == &lawn_host.face);
    for (size_t i = 0; i < count; i++) {
        CHECK(all[i]->abi == CONTENDER_ABI);
        CHECK(all[i]->flags & CONTENDER_HOST);
        CHECK(strlen(all[i]->name) <= 12 && strlen(all[i]->about) <= 160);
        for (size_t k = 0; k < i; k++) {
            CHECK(strcmp(all[i]->name, all[k]->name) != 0);
        }
    }
}
