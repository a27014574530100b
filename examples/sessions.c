/* sessions.c - a session store: a session ends 30 minutes after its last
 * request.
 *
 * The id is a random 64-bit number, as in a cookie; it could also be a string.
 * The payload is a plain struct. The store copies it and returns a pointer to
 * its copy.
 */
#include <lawn_store.h>

#define MINUTE UINT64_C(60000)
#define IDLE (30 * MINUTE)

struct session {
    uint64_t since;
    char user[24]; /* not a pointer: the session may outlive the process */
};

static void
login(struct lawn_store *store, uint64_t token, const char *user)
{
    struct session session = {lawn_store_now(store), ""};

    (void)snprintf(session.user, sizeof(session.user), "%s", user);
    /* ABSENT: an existing session is not replaced. */
    if (lawn_store_start(store, &token, sizeof(token), IDLE, &session,
                         sizeof(session), LAWN_STORE_ABSENT) != 0) {
        printf("%s cannot log in\n", user);
    }
}

static void
handle_request(struct lawn_store *store, uint64_t token)
{
    struct lawn_store_timer timer;
    bool there = lawn_store_get(store, &token, sizeof(token), &timer);

    printf("request %s%s\n", there ? "from " : "without a session",
           there ? ((const struct session *)timer.payload)->user : "");
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
        /* Advance the clock first: TTLs of new timers count from there. */
        (void)lawn_store_mow(store, minute * MINUTE, SIZE_MAX, expired, NULL);
        if (minute == 2) {
            login(store, ada, "ada");
            login(store, bob, "bob");
        } else if (minute == 20 || minute == 55) {
            handle_request(store, ada);
        } else if (minute == 25 && lawn_store_stop(store, &bob, sizeof(bob))) {
            printf("bob has logged out\n");
        }
    }
    lawn_store_free(store);
    return store == NULL;
}

/* prints:
 * request from ada
 * bob has logged out
 * ada was here from minute 2 to 50
 * request without a session
 */
