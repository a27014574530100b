/* wrapper.cpp - tests of the contract of lawn.hpp. */
#include <lawn.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;

static int failures;

#define EXPECT(...)                                                            \
    do {                                                                       \
        if (!(__VA_ARGS__)) {                                                  \
            std::printf("  line %d: not so: %s\n", __LINE__, #__VA_ARGS__);    \
            failures++;                                                        \
        }                                                                      \
    } while (0)

/* The address of its first member is the address of the timer. */
static_assert(std::is_standard_layout_v<lawnpp::any_timer>);
static_assert(!std::is_copy_constructible_v<lawnpp::timer<>>);
static_assert(!std::is_move_constructible_v<lawnpp::timer<>>);
static_assert(!std::is_copy_assignable_v<lawnpp::timer<>>);
static_assert(!std::is_copy_constructible_v<lawnpp::lawn>);
static_assert(!std::is_copy_assignable_v<lawnpp::lawn>);
static_assert(std::is_nothrow_move_constructible_v<lawnpp::lawn>);
static_assert(std::is_nothrow_move_assignable_v<lawnpp::lawn>);

/* A timer and a lawn have the documented sizes. */
struct bell {
    void operator()() { ++*rung; }
    int *rung;
};
static_assert(sizeof(lawnpp::timer<bell>) == 48 || sizeof(void *) != 8);
static_assert(sizeof(lawnpp::timer<>) <= 72);
static_assert(sizeof(lawnpp::lawn) == sizeof(void *));

struct connection {
    explicit connection(lawnpp::lawn &lawn)
        : idle(lawn, [this] { hung_up = true; })
    {
    }
    bool hung_up = false;
    lawnpp::timer<> idle;
};

static int allocations;

/* Inline, gcc would see that what delete frees is from malloc(), and warn. */
__attribute__((noinline)) void *
operator new(size_t size)
{
    allocations++;
    if (void *memory = std::malloc(size)) {
        return memory;
    }
    throw std::bad_alloc();
}

__attribute__((noinline)) void
operator delete(void *memory) noexcept
{
    std::free(memory);
}

__attribute__((noinline)) void
operator delete(void *memory, size_t) noexcept
{
    std::free(memory);
}

static void
a_timer_of_this_allocates_nothing()
{
    lawnpp::lawn lawn;
    int before = allocations;
    connection c(lawn);
    c.idle.start(1);
    EXPECT(lawn.mow(1) == 1 && c.hung_up && allocations == before);
    std::array<char, 64> much = {};
    lawnpp::timer<> large(lawn, [much] { (void)much; });
    EXPECT(allocations > before);
}

static void
a_timer_fires_when_it_is_due_and_not_before()
{
    lawnpp::lawn lawn;
    connection c(lawn);
    EXPECT(!c.idle.pending() && c.idle.deadline() == LAWN_NEVER);
    c.idle.start(30);
    EXPECT(c.idle.pending() && c.idle.deadline() == 30);
    EXPECT(lawn.next() == 30 && lawn.count() == 1);
    EXPECT(lawn.mow(29) == 0 && !c.hung_up);
    EXPECT(lawn.mow(30) == 1 && c.hung_up);
    EXPECT(!c.idle.pending() && c.idle.last_deadline() == 30);
    EXPECT(lawn.next() == LAWN_NEVER && lawn.now() == 30);
    c.hung_up = false;
    c.idle.start_at(35);
    EXPECT(lawn.mow(34) == 0 && lawn.mow(35) == 1 && c.hung_up);
}

static void
a_stopped_timer_does_not_fire()
{
    lawnpp::lawn lawn;
    connection c(lawn);
    EXPECT(!c.idle.stop());
    c.idle.start(5);
    EXPECT(c.idle.stop() && !c.idle.stop());
    EXPECT(lawn.mow(10) == 0 && !c.hung_up);
}

static void
the_timer_that_is_due_first_is_found_and_can_be_evicted()
{
    lawnpp::lawn lawn;
    connection sooner(lawn);
    connection later(lawn);
    EXPECT(lawn.next_timer() == nullptr);
    later.idle.start(9);
    sooner.idle.start(5);
    EXPECT(lawn.next_timer() == &sooner.idle);
    EXPECT(lawn.next_timer()->stop() && lawn.next_timer() == &later.idle);
    EXPECT(lawn.mow(10) == 1 && later.hung_up && !sooner.hung_up);
}

static void
a_destroyed_timer_does_not_fire()
{
    lawnpp::lawn lawn;
    {
        connection c(lawn);
        c.idle.start(5);
        EXPECT(lawn.count() == 1);
    }
    EXPECT(lawn.count() == 0 && lawn.next() == LAWN_NEVER);
    EXPECT(lawn.mow(10) == 0);
}

static void
timers_of_many_types_share_a_lawn_and_keep_their_order()
{
    lawnpp::lawn lawn;
    std::string order;
    int rung = 0;
    lawnpp::timer one(lawn, [&] { order += '1'; });
    lawnpp::timer<> two(lawn, [&order] { order += '2'; });
    lawnpp::timer<bell> three(lawn, bell{&rung});
    three.start(6);
    two.start(5);
    one.start(4);
    EXPECT(lawn.mow(6) == 3 && order == "12" && rung == 1);
}

static void
a_budget_leaves_the_rest()
{
    lawnpp::lawn lawn;
    connection a(lawn);
    connection b(lawn);
    a.idle.start(1);
    b.idle.start(1);
    EXPECT(lawn.mow(1, 1) == 1 && a.hung_up && !b.hung_up);
    EXPECT(lawn.mow(1, 0) == 0 && lawn.mow(1) == 1 && b.hung_up);
}

static void
a_callback_may_take_the_timer_and_start_it_again()
{
    lawnpp::lawn lawn;
    std::vector<uint64_t> due;
    lawnpp::timer beat(lawn, [&](lawnpp::any_timer &self) {
        due.push_back(self.last_deadline());
        self.start_at(self.last_deadline() + 10);
    });
    beat.start(10);
    for (uint64_t now = 1; now <= 35; now++) {
        lawn.mow(now);
    }
    EXPECT(due == std::vector<uint64_t>{10, 20, 30});
    EXPECT(beat.deadline() == 40);
}

static void
a_callback_may_destroy_its_own_timer()
{
    lawnpp::lawn lawn;
    struct request {
        request(lawnpp::lawn &lawn, int *count)
            : deadline(lawn, [this] { delete this; }), ended(count)
        {
        }
        ~request() { ++*ended; }
        lawnpp::timer<> deadline;
        int *ended;
    };
    int ended = 0;
    auto *first = new request(lawn, &ended);
    auto *second = new request(lawn, &ended);
    first->deadline.start(3);
    second->deadline.start(4);
    EXPECT(lawn.mow(3) == 1 && ended == 1);
    EXPECT(lawn.mow(4) == 1 && ended == 2);
}

static void
a_lawn_moves_with_its_timers()
{
    lawnpp::lawn lawn;
    connection c(lawn);
    c.idle.start(5);
    lawnpp::lawn moved(std::move(lawn));
    EXPECT(moved.count() == 1);
    c.idle.start(7);
    lawnpp::lawn other;
    connection d(other);
    d.idle.start(1);
    other = std::move(moved); /* ends what it was */
    EXPECT(!d.idle.pending());
    EXPECT(other.mow(6) == 0 && other.mow(7) == 1 && c.hung_up && !d.hung_up);
}

static void
timers_outlive_their_lawn_and_do_not_fire()
{
    std::optional<lawnpp::lawn> lawn(std::in_place);
    connection soon(*lawn);
    connection late(*lawn);
    soon.idle.start(1);
    late.idle.start_at(LAWN_NEVER - 1);
    lawn.reset();
    EXPECT(!soon.idle.pending() && !late.idle.pending());
    EXPECT(!soon.hung_up && !late.hung_up && !soon.idle.stop());
}

static void
a_lawn_without_memory_is_bad_alloc()
{
    lawn_options options = {};
    options.alloc = [](size_t, void *) -> void * { return nullptr; };
    bool thrown = false;
    try {
        lawnpp::lawn lawn(options);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    EXPECT(thrown);
}

static void
the_options_are_those_of_the_lawn()
{
    lawn_options options = {};
    options.now = 1000;
    lawnpp::lawn lawn(options);
    EXPECT(lawn.now() == 1000);
    lawn.set_now(2000);
    connection c(lawn);
    c.idle.start(5);
    EXPECT(c.idle.deadline() == 2005);
    lawn_set_resolution(lawn.get(), 10);
    c.idle.start(5);
    EXPECT(c.idle.deadline() == 2010);
}

static void
an_exception_of_a_callback_leaves_mow()
{
    lawnpp::lawn lawn;
    connection before(lawn);
    lawnpp::timer bad(lawn, [] { throw std::runtime_error("no"); });
    connection after(lawn);
    before.idle.start(1);
    bad.start(1);
    after.idle.start(1);
    std::string caught;
    try {
        lawn.mow(1);
    } catch (const std::runtime_error &error) {
        caught = error.what();
    }
    EXPECT(caught == "no");
    EXPECT(before.hung_up && !after.hung_up);
    EXPECT(!bad.pending() && after.idle.pending() && lawn.count() == 1);
    EXPECT(lawn_check(lawn.get(), stdout));
    EXPECT(lawn.mow(1) == 1 && after.hung_up);
}

static void
a_callback_may_throw_when_its_timer_is_gone()
{
    lawnpp::lawn lawn;
    std::unique_ptr<lawnpp::timer<>> timer;
    timer = std::make_unique<lawnpp::timer<>>(lawn, [&timer] {
        timer.reset();
        throw 7;
    });
    timer->start(1);
    int caught = 0;
    try {
        lawn.mow(1);
    } catch (int thrown) {
        caught = thrown;
    }
    EXPECT(caught == 7 && !timer && lawn.count() == 0);
}

static void
durations_round_so_that_no_timer_is_early()
{
    using ms = std::chrono::milliseconds;
    static_assert(lawnpp::ttl_of<ms>(2s) == 2000);
    EXPECT(lawnpp::ttl_of<ms>(1500us) == 2 && lawnpp::ttl_of<ms>(2000us) == 2);
    EXPECT(lawnpp::time_of<ms>(1999us) == 1 && lawnpp::time_of<ms>(2ms) == 2);
    EXPECT(lawnpp::ttl_of<ms>(-1s) == 0 && lawnpp::time_of<ms>(-1us) == 0);
    EXPECT(lawnpp::ttl_of<ms>(std::chrono::duration<double>(0.0015)) == 2);
}

static void
durations_that_are_too_long_are_never()
{
    using namespace std::chrono;
    using ms = milliseconds;
    using seconds_of_double = duration<double>;
    static_assert(lawnpp::ttl_of<ms>(hours::max()) == LAWN_NEVER);
    static_assert(lawnpp::time_of<ms>(hours::max()) == LAWN_NEVER);
    EXPECT(lawnpp::ttl_of<ms>(hours::min()) == 0);
    EXPECT(lawnpp::time_of<ms>(hours::min()) == 0);
    EXPECT(lawnpp::ttl_of<ms>(seconds_of_double(1e30)) == LAWN_NEVER);
    EXPECT(lawnpp::ttl_of<ms>(seconds_of_double(-1e30)) == 0);
    EXPECT(lawnpp::ttl_of<ms>(seconds_of_double(9.1e15)) ==
           9100000000000000000);
    EXPECT(lawnpp::ttl_of<nanoseconds>(seconds_of_double(HUGE_VAL)) ==
           LAWN_NEVER);
    EXPECT(lawnpp::ttl_of<ms>(seconds_of_double(NAN)) == 0);
    EXPECT(lawnpp::ttl_of<ms>(duration<uint64_t>(UINT64_MAX)) == LAWN_NEVER);
    /* Frames, which are no whole number of milliseconds. */
    using frames = duration<int64_t, std::ratio<1, 30>>;
    EXPECT(lawnpp::ttl_of<ms>(frames(1)) == 34);
    EXPECT(lawnpp::time_of<ms>(frames(1)) == 33);
    EXPECT(lawnpp::ttl_of<ms>(frames::max()) == LAWN_NEVER);
    /* Of a finer clock, all of it. */
    EXPECT(lawnpp::ttl_of<ms>(nanoseconds::max()) == 9223372036855);
    EXPECT(lawnpp::time_of<ms>(nanoseconds::max()) == 9223372036854);
    EXPECT(lawnpp::time_of<ms>(duration<uint64_t, std::nano>(
               10000000000000000000u)) == 10000000000000);
    EXPECT(lawnpp::time_of<ms>(duration<double, std::femto>(1e19)) == 10000000);
    /* A unit of few bits. */
    EXPECT(lawnpp::ttl_of<duration<short>>(hours(100)) == 360000);
}

static lawn_options
one_class()
{
    lawn_options options = {};
    options.classes = 1;
    return options;
}

/* A timer of a class takes 8 bytes more than others. */
static_assert(sizeof(lawnpp::class_timer<bell>) ==
              sizeof(lawnpp::timer<bell>) + sizeof(void *));
static_assert(!std::is_copy_constructible_v<lawnpp::class_timer<>>);

static void
an_operation_applies_to_all_timers_of_a_class()
{
    lawnpp::lawn lawn(one_class());
    lawnpp::timer_class idle(lawn, 60, "idle");
    int closed = 0;
    lawnpp::class_timer one(idle, [&] { closed++; });
    lawnpp::class_timer<> two(idle, [&] { closed++; });
    EXPECT(!one.pending() && one.deadline() == LAWN_NEVER && !one.stop());
    one.start();
    lawn.set_now(10);
    two.start();
    EXPECT(one.deadline() == 60 && two.deadline() == 70 && lawn.count() == 2);
    idle.scale(1, 2);
    EXPECT(one.deadline() == 30 && two.deadline() == 40);
    idle.set_ttl(20);
    EXPECT(lawn.mow(20) == 1 && closed == 1 && one.last_deadline() == 20);
    idle.pause();
    EXPECT(lawn.mow(100) == 0);
    idle.resume();
    idle.postpone(5);
    EXPECT(two.deadline() == 115 && lawn.mow(114) == 0);
    EXPECT(idle.mow(115) == 1 && closed == 2 && !two.pending());
}

static void
a_callback_may_take_the_timer_of_a_class_and_start_it_again()
{
    lawnpp::lawn lawn(one_class());
    lawnpp::timer_class beats(lawn, 10);
    int beaten = 0;
    lawnpp::class_timer beat(beats, [&](lawnpp::any_class_timer &self) {
        beaten++;
        self.start();
    });
    beat.start();
    for (uint64_t now = 1; now <= 35; now++) {
        lawn.mow(now);
    }
    EXPECT(beaten == 3 && beat.deadline() == 40 && beat.stop());
    EXPECT(!beat.pending() && lawn.count() == 0);
}

static void
timers_of_a_class_end_with_their_object()
{
    lawnpp::lawn lawn(one_class());
    lawnpp::timer_class idle(lawn, 5);
    bool fired = false;
    {
        lawnpp::class_timer running(idle, [&] { fired = true; });
        running.start();
        lawnpp::class_timer cleared(idle, [&] { fired = true; });
        cleared.start();
        EXPECT(idle.clear() == 2 && !cleared.pending() && !cleared.stop());
        running.start();
        EXPECT(running.pending() && lawn.count() == 1);
    }
    EXPECT(lawn.mow(5) == 0 && !fired && lawn_class_free(idle.get()));
    EXPECT(lawn_check(lawn.get(), stdout));
}

static void
timers_of_a_class_outlive_their_lawn()
{
    std::optional<lawnpp::lawn> lawn(std::in_place, one_class());
    lawnpp::timer_class idle(*lawn, 5);
    bool fired = false;
    lawnpp::class_timer paused(idle, [&] { fired = true; });
    lawnpp::class_timer cleared(idle, [&] { fired = true; });
    cleared.start();
    idle.clear();
    idle.pause();
    paused.start();
    lawn.reset();
    EXPECT(!fired && !paused.pending() && !cleared.pending());
}

static void
a_class_without_room_is_bad_alloc()
{
    lawnpp::lawn lawn;
    bool thrown = false;
    try {
        lawnpp::timer_class idle(lawn, 5);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    EXPECT(thrown);
}

static void
an_exception_leaves_the_mow_of_a_class()
{
    lawnpp::lawn lawn(one_class());
    lawnpp::timer_class idle(lawn, 5);
    lawnpp::class_timer bad(idle, [] { throw 7; });
    lawnpp::class_timer after(idle, [] {});
    bad.start();
    after.start();
    int caught = 0;
    try {
        idle.mow(5);
    } catch (int thrown) {
        caught = thrown;
    }
    EXPECT(caught == 7 && !bad.pending() && after.pending());
    EXPECT(idle.mow(5) == 1 && !after.pending());
}

#define RUN(name) run(#name, name)
static int passed, failed;

static void
run(const char *name, void (*test)())
{
    failures = 0;
    test();
    failures == 0 ? passed++ : failed++;
    std::printf("%s %s\n", failures == 0 ? "ok" : "FAILED", name);
}

int
main()
{
    RUN(a_timer_fires_when_it_is_due_and_not_before);
    RUN(a_timer_of_this_allocates_nothing);
    RUN(a_stopped_timer_does_not_fire);
    RUN(the_timer_that_is_due_first_is_found_and_can_be_evicted);
    RUN(a_destroyed_timer_does_not_fire);
    RUN(timers_of_many_types_share_a_lawn_and_keep_their_order);
    RUN(a_budget_leaves_the_rest);
    RUN(a_callback_may_take_the_timer_and_start_it_again);
    RUN(a_callback_may_destroy_its_own_timer);
    RUN(a_lawn_moves_with_its_timers);
    RUN(timers_outlive_their_lawn_and_do_not_fire);
    RUN(a_lawn_without_memory_is_bad_alloc);
    RUN(the_options_are_those_of_the_lawn);
    RUN(an_exception_of_a_callback_leaves_mow);
    RUN(a_callback_may_throw_when_its_timer_is_gone);
    RUN(durations_round_so_that_no_timer_is_early);
    RUN(durations_that_are_too_long_are_never);
    RUN(an_operation_applies_to_all_timers_of_a_class);
    RUN(a_callback_may_take_the_timer_of_a_class_and_start_it_again);
    RUN(timers_of_a_class_end_with_their_object);
    RUN(timers_of_a_class_outlive_their_lawn);
    RUN(a_class_without_room_is_bad_alloc);
    RUN(an_exception_leaves_the_mow_of_a_class);
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
