/* sessions.c - a session store: who logs in stays for 30 minutes after his last
 * request.
 *
 * The id is a random number of 64 bits, as it would stand in a cookie; it might
 * as well be a string. The payload is a plain struct, which the store copies in
 * and hands out where it stands.
 */
#include <lawn_store.h>

#define MINUTE UINT64_C(60000)
#define IDLE (30 * MINUTE)

struct session {
    uint64_t since;
    char user[24]; /* no pointer: the session may outlive the program */
};

static void
login(struct lawn_store *store, uint64_t token, const char *user)
{
    struct session session = {lawn_store_now(store), ""};

    (void)snprintf(session.user, sizeof(session.user), "%s", user);
    /* ABSENT: nobody takes over the session of another. */
    if (lawn_store_start(store, &token, sizeof(token), IDLE, &session,
                         sizeof(session), LAWN_STORE_ABSENT) != 0) {
        printf("%s cannot log in\n", user);
    }
}

static void
request(struct lawn_store *store, uint64_t token)
{
    struct lawn_store_timer timer;
    bool there = lawn_store_get(store, &token, sizeof(token), &timer);

    printf("a request of %s's\n",
           there ? ((const struct session *)timer.payload)->user : "nobody");
    (void)lawn_store_touch(store, &token, sizeof(token), IDLE);
}

static void
expired(const struct lawn_store_timer *timer, void *arg)
{
    const struct session *session = (const struct session *)timer->payload;

    (void)arg;
    printf("%s was here from minute %d to %d\n", session->user,
           (int)(session->since / MINUTE), (int)(timer->deadline / MINUTE));
}

int
main(void)
{
    const uint64_t ada = 0x5ca1ab1e0ddba115, bob = 0xc0ffee0fc0de0000;
    struct lawn_store *store = lawn_store_new(NULL);

    for (uint64_t minute = 1; store != NULL && minute <= 60; minute++) {
        /* First the clock, then what is started: it counts from there. */
        (void)lawn_store_mow(store, minute * MINUTE, SIZE_MAX, expired, NULL);
        if (minute == 2) {
            login(store, ada, "ada");
            login(store, bob, "bob");
        } else if (minute == 20 || minute == 55) {
            request(store, ada);
        } else if (minute == 25 && lawn_store_stop(store, &bob, sizeof(bob))) {
            printf("bob has logged out\n");
        }
    }
    lawn_store_free(store);
    return store == NULL;
}

/* prints:
 * a request of ada's
 * bob has logged out
 * ada was here from minute 2 to 50
 * a request of nobody's
 */
