/* lawn.hpp - lawns and timers with automatic lifetime, for C++17.
 *
 *     struct connection {
 *         explicit connection(lawnpp::lawn &lawn)
 *             : idle(lawn, [this] { hang_up(); }) {}
 *         void active() { idle.start(30000); } // restart
 *         void hang_up();
 *         lawnpp::timer<> idle;
 *     };
 *
 *     lawn_options options = {}; options.now = now;
 *     lawnpp::lawn lawn(options); // throws std::bad_alloc
 *     connection c(lawn); c.active();
 *     lawn.mow(now); // fires all due timers
 *
 * This is a thin wrapper of lawn.h with the same promises and costs, except as
 * described below. To call other functions of lawn.h, pass them lawn::get().
 * All timers on a lawnpp::lawn must be lawnpp timers.
 *
 * LIFETIME
 *
 * The destructor of a timer stops it. A timer can be neither copied nor moved.
 * A lawn can be moved while timers are running on it. Its destructor makes all
 * timers idle, in O(timers); do not start these timers again.
 *
 * CALLBACKS
 *
 * The callback of a timer<> takes no argument. That of a timer<F> (see MEMORY)
 * takes no argument, or an any_timer &: the timer that fires. A callback may
 * start, stop and destroy any timer; destroying its own must be its last
 * action. It must not mow or destroy the lawn. If a callback throws, mow() ends
 * and rethrows the exception; the remaining due timers fire in the next mow.
 *
 * MEMORY
 *
 * Sizes are those on 64-bit machines with libstdc++. A timer<> takes 72 bytes.
 * It stores its callable in a std::function, which allocates no memory for a
 * small callable like [this] { ... }. A timer<F> stores a callable of type F
 * directly: 40 bytes plus sizeof(F), rounded up to a multiple of 8 or of
 * alignof(F), if that is larger. The compiler deduces F:
 *
 *     lawnpp::timer t(lawn, [&] { ... });
 *
 * CLASSES
 *
 * A timer_class is a handle of a class of lawn_class.h. An operation on it
 * applies to all timers of the class at once. These timers are class_timers;
 * each takes 8 bytes more than a timer. The callback of a class_timer<F> may
 * take an any_class_timer &.
 *
 *     options.classes = 1;
 *     lawnpp::timer_class idle(lawn, 60000, "idle");
 *     lawnpp::class_timer t(idle, [&] { ... }); t.start();
 *     idle.set_ttl(30000); // also for running timers
 */
#ifndef LAWN_HPP
#define LAWN_HPP

#include <lawn_class.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace lawnpp
{
/* ttl_of() and time_of() return a std::chrono::duration as a number of ticks: 0
 * if it is negative, LAWN_NEVER if it is too long. Unit is the duration type of
 * one tick, for example std::chrono::milliseconds. ttl_of() rounds up, for TTLs
 * and deadlines, so that no timer fires early; time_of() rounds down, for the
 * current time. O(1). */
template <class Unit, bool up = true, class D>
constexpr uint64_t
ttl_of(D d)
{
    using ticks = std::chrono::duration<int64_t, typename Unit::period>;
    using fine = typename std::common_type_t<ticks, D>::period;
    constexpr bool own = std::is_same_v<fine, typename D::period>;
    using scale = std::conditional_t<own, typename Unit::period, fine>;
    std::chrono::duration<long double, scale> most(9.2e18L); /* below 2^63 */
    if (!(d > D::zero()) || d > most) {
        return d > D::zero() ? LAWN_NEVER : 0;
    }
    auto down = std::chrono::floor<ticks>(d);
    return static_cast<uint64_t>(down.count()) + (up && down < d);
}
template <class Unit, class D>
constexpr uint64_t
time_of(D d)
{
    return ttl_of<Unit, false>(d);
}

/* The base of all timer types. Its functions are those of lawn.h. */
class any_timer
{
public:
    any_timer(const any_timer &) = delete;
    any_timer &operator=(const any_timer &) = delete;

    void start(uint64_t ttl) noexcept { lawn_start(lawn_, &timer_, ttl); }
    void start_at(uint64_t at) noexcept { lawn_start_at(lawn_, &timer_, at); }
    /* Returns true if the timer was running: it does not fire. O(1). */
    bool stop() noexcept { return pending() && lawn_stop(lawn_, &timer_); }
    bool pending() const noexcept { return lawn_pending(&timer_); }
    uint64_t deadline() const noexcept { return lawn_deadline(&timer_); }
    uint64_t last_deadline() const noexcept
    {
        return lawn_last_deadline(&timer_);
    }

protected:
    any_timer(::lawn *lawn, void (*fire)(any_timer *)) noexcept
        : lawn_(lawn), fire_(fire)
    {
    }
    ~any_timer() { stop(); } /* does not access the lawn if idle */

private:
    friend class lawn;
    friend class any_class_timer;
    ::lawn_timer timer_ = {}; /* first: shares the address of the object */
    ::lawn *lawn_;
    void (*fire_)(any_timer *);
};

class lawn
{
public:
    explicit lawn(const ::lawn_options &with = {}) : lawn_(lawn_new(&with))
    {
        if (lawn_ == nullptr) {
            throw std::bad_alloc();
        }
    }
    /* Sets the time to now and fires due timers, at most budget of them.
     * Returns the result of lawn_mow(). Throws the exception of a callback. The
     * cost is that of lawn_mow(). */
    size_t mow(uint64_t now, size_t budget = SIZE_MAX)
    {
        std::exception_ptr thrown;
        size_t fired = lawn_mow(get(), now, budget, fire, &thrown);
        if (thrown != nullptr) {
            std::rethrow_exception(thrown);
        }
        return fired;
    }
    uint64_t next() const noexcept { return lawn_next(get()); }
    uint64_t next_exact() const noexcept { return lawn_next_exact(get()); }
    /* Returns the result of lawn_next_timer(); to evict the timer, stop it. */
    any_timer *next_timer() const noexcept
    {
        return reinterpret_cast<any_timer *>(lawn_next_timer(get()));
    }
    uint64_t now() const noexcept { return lawn_now(get()); }
    void set_now(uint64_t now) noexcept { lawn_set_now(get(), now); }
    uint64_t count() const noexcept { return lawn_count(get()); }
    ::lawn *get() const noexcept { return lawn_.get(); }

private:
    friend class timer_class;
    static void fire(::lawn_timer *timer, void *thrown) noexcept
    {
        auto *self = reinterpret_cast<any_timer *>(timer);
        auto *lawn = self->lawn_; /* the callback may destroy self */
        try {
            self->fire_(self);
        } catch (...) { /* exceptions must not cross C code */
            lawn_halt(lawn);
            *static_cast<std::exception_ptr *>(thrown) =
                std::current_exception();
        }
    }
    struct end {
        void operator()(::lawn *lawn) const noexcept
        {
            /* Makes all timers idle without calling their callbacks. The
             * destructor of an idle timer does not access the lawn. */
            lawn_mow(
                lawn, LAWN_NEVER, SIZE_MAX, [](::lawn_timer *, void *) {},
                nullptr);
            for (::lawn_class *cls = nullptr;
                 (cls = lawn_class_each(lawn, cls)) != nullptr;) {
                lawn_class_clear(cls); /* paused timers */
                while (lawn_class_take(cls) != nullptr) {
                }
            }
            lawn_free(lawn);
        }
    };
    std::unique_ptr<::lawn, end> lawn_;
};

template <class F = std::function<void()>> class timer : public any_timer
{
public:
    timer(const lawn &lawn, F call)
        : any_timer(lawn.get(), fire), call_(std::move(call))
    {
    }

private:
    static void fire(any_timer *self)
    {
        auto &timer = *static_cast<class timer *>(self);
        if constexpr (std::is_invocable_v<F &, any_timer &>) {
            timer.call_(*self);
        } else {
            timer.call_();
        }
    }
    F call_;
};

/* A handle of a class, which can be copied; the class is part of the lawn. Its
 * functions are like those of lawn_class.h. To call functions of lawn_class.h
 * that it lacks, pass them get(). */
class timer_class
{
public:
    /* Creates a class. Throws std::bad_alloc if the lawn has no room for it. */
    timer_class(const lawn &lawn, uint64_t ttl, const char *name = nullptr)
        : lawn_(lawn.get()), class_(lawn_class_new(lawn_, ttl, name))
    {
        if (class_ == nullptr) {
            throw std::bad_alloc();
        }
    }
    void set_ttl(uint64_t ttl) noexcept { lawn_class_set_ttl(class_, ttl); }
    void scale(uint32_t numerator, uint32_t denominator) noexcept
    {
        lawn_class_scale(class_, numerator, denominator);
    }
    void postpone(uint64_t by) noexcept { lawn_class_postpone(class_, by); }
    void pause() noexcept { lawn_class_pause(class_); }
    void resume() noexcept { lawn_class_resume(class_); }
    uint64_t clear() noexcept { return lawn_class_clear(class_); }
    /* Like lawn::mow(), for timers of this class only. */
    size_t mow(uint64_t now, size_t budget = SIZE_MAX)
    {
        std::exception_ptr thrown;
        size_t fired = lawn_class_mow(class_, now, budget, lawn::fire, &thrown);
        if (thrown != nullptr) {
            std::rethrow_exception(thrown);
        }
        return fired;
    }
    ::lawn_class *get() const noexcept { return class_; }

private:
    friend class any_class_timer;
    ::lawn *lawn_;
    ::lawn_class *class_;
};

/* The base of all timers of classes. */
class any_class_timer : protected any_timer
{
public:
    void start() noexcept { lawn_class_start(class_, &timer_); }
    /* Returns true if the timer was running: it does not fire. O(1). */
    bool stop() noexcept
    {
        return any_timer::pending() && lawn_class_stop(class_, &timer_);
    }
    /* Returns true if the timer is running. A timer that timer_class::clear()
     * stopped is not running. */
    bool pending() const noexcept { return deadline() != LAWN_NEVER; }
    uint64_t deadline() const noexcept
    {
        return any_timer::pending() ? lawn_class_deadline(class_, &timer_)
                                    : LAWN_NEVER;
    }
    using any_timer::last_deadline;

protected:
    any_class_timer(timer_class cls, void (*fire)(any_timer *)) noexcept
        : any_timer(cls.lawn_, fire), class_(cls.class_)
    {
    }
    ~any_class_timer() { stop(); } /* does not access the lawn if idle */

private:
    ::lawn_class *class_;
};

template <class F = std::function<void()>>
class class_timer : public any_class_timer
{
public:
    class_timer(timer_class cls, F call)
        : any_class_timer(cls, fire), call_(std::move(call))
    {
    }

private:
    static void fire(any_timer *self)
    {
        auto &timer = *static_cast<class_timer *>(self);
        if constexpr (std::is_invocable_v<F &, any_class_timer &>) {
            timer.call_(timer);
        } else {
            timer.call_();
        }
    }
    F call_;
};
} // namespace lawnpp
#endif
