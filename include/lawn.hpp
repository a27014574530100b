/* lawn.hpp - lawns and timers that clean up after themselves, for C++17.
 *
 *     struct connection {
 *         explicit connection(lawnpp::lawn &lawn)
 *             : idle(lawn, [this] { hang_up(); }) {}
 *         void spoke() { idle.start(30000); } // from now on
 *         void hang_up();
 *         lawnpp::timer<> idle;
 *     };
 *
 *     lawn_options options = {}; options.now = now;
 *     lawnpp::lawn lawn(options); // std::bad_alloc if there is no memory
 *     connection c(lawn); c.spoke();
 *     lawn.mow(now); // fires what is due
 *
 * A thin cover of lawn.h, whose promises and costs hold. The namespace is not
 * lawn, since that is a struct there. lawn::get() opens the rest of lawn.h; but
 * all timers that run on this lawn must be of this header.
 *
 * LIFETIME: a timer stops when it is destroyed; it is neither copied nor moved.
 * A lawn can be moved, with all that runs on it. If it is destroyed first, its
 * timers are idle and may be destroyed, but not be started; O(timers).
 *
 * CALLBACKS take no argument, or the any_timer that fires. They may start, stop
 * and destroy any timer, their own if that is the last thing they do; they may
 * not mow or destroy the lawn. If one throws, mow() ends and throws that on;
 * its timer has fired, and what is left fires in the next mow.
 *
 * MEMORY: timer<> has 72 bytes and allocates nothing for [this]. With callables
 * of other types, timer<F> or timer t(lawn, [&] { ... }), it has 48 or more.
 */
#ifndef LAWN_HPP
#define LAWN_HPP

#include <lawn.h>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace lawnpp {
/* A duration in ticks of a Unit, from 0 to LAWN_NEVER: rounded up for TTLs and
 * deadlines, so that no timer is early, and down for what the time is. */
template <class Unit, bool up = true, class D> constexpr uint64_t ttl_of(D d)
{
    using ticks = std::chrono::duration<int64_t, typename Unit::period>;
    using fine = typename std::common_type_t<ticks, D>::period;
    constexpr bool own = std::is_same_v<fine, typename D::period>;
    using scale = std::conditional_t<own, typename Unit::period, fine>;
    std::chrono::duration<long double, scale> most(9.2e18L); /* below 2^63 */
    if (!(d > D::zero()) || d > most) return d > D::zero() ? LAWN_NEVER : 0;
    auto down = std::chrono::floor<ticks>(d);
    return static_cast<uint64_t>(down.count()) + (up && down < d);
}
template <class Unit, class D> constexpr uint64_t time_of(D d)
{
    return ttl_of<Unit, false>(d);
}

/* What timers of all types have in common. */
class any_timer {
public:
    any_timer(const any_timer &) = delete;
    any_timer &operator=(const any_timer &) = delete;

    void start(uint64_t ttl) noexcept { lawn_start(lawn_, &timer_, ttl); }
    void start_at(uint64_t at) noexcept { lawn_start_at(lawn_, &timer_, at); }
    /* True: it was running, and now it does not fire. */
    bool stop() noexcept { return pending() && lawn_stop(lawn_, &timer_); }
    bool pending() const noexcept { return lawn_pending(&timer_); }
    uint64_t deadline() const noexcept { return lawn_deadline(&timer_); }
    uint64_t last_deadline() const noexcept
    {
        return lawn_last_deadline(&timer_);
    }

protected:
    any_timer(::lawn *lawn, void (*fire)(any_timer *)) noexcept
        : lawn_(lawn), fire_(fire) {}
    ~any_timer() { stop(); } /* reads no lawn if it is idle */

private:
    friend class lawn;
    ::lawn_timer timer_ = {}; /* the first, so that its address is ours */
    ::lawn *lawn_;
    void (*fire_)(any_timer *);
};

class lawn {
public:
    explicit lawn(const ::lawn_options &with = {}) : lawn_(lawn_new(&with))
    {
        if (!lawn_) throw std::bad_alloc();
    }
    /* Fires what is due by now, at most budget timers; tells how many. */
    size_t mow(uint64_t now, size_t budget = SIZE_MAX)
    {
        std::exception_ptr thrown;
        size_t fired = lawn_mow(get(), now, budget, fire, &thrown);
        if (thrown) std::rethrow_exception(thrown);
        return fired;
    }
    uint64_t next() const noexcept { return lawn_next(get()); }
    /* The timer that is due first, or null: stop it to evict it. */
    any_timer *next_timer() const noexcept
    {
        return reinterpret_cast<any_timer *>(lawn_next_timer(get()));
    }
    uint64_t now() const noexcept { return lawn_now(get()); }
    void set_now(uint64_t now) noexcept { lawn_set_now(get(), now); }
    uint64_t count() const noexcept { return lawn_count(get()); }
    ::lawn *get() const noexcept { return lawn_.get(); }

private:
    static void fire(::lawn_timer *timer, void *thrown) noexcept
    {
        auto *self = reinterpret_cast<any_timer *>(timer);
        auto *lawn = self->lawn_; /* it may be gone after the call */
        try {
            self->fire_(self);
        } catch (...) { /* C code would not pass it on */
            lawn_halt(lawn);
            *static_cast<std::exception_ptr *>(thrown) =
                std::current_exception();
        }
    }
    struct end {
        void operator()(::lawn *lawn) const noexcept
        {
            /* They fire without a callback: idle, they know no lawn. */
            lawn_mow(lawn, LAWN_NEVER, SIZE_MAX,
                     [](::lawn_timer *, void *) {}, nullptr);
            lawn_free(lawn);
        }
    };
    std::unique_ptr<::lawn, end> lawn_;
};

template <class F = std::function<void()>> class timer : public any_timer {
public:
    timer(const lawn &lawn, F call)
        : any_timer(lawn.get(), fire), call_(std::move(call)) {}

private:
    static void fire(any_timer *self)
    {
        auto &timer = *static_cast<class timer *>(self);
        if constexpr (std::is_invocable_v<F &, any_timer &>) timer.call_(*self);
        else timer.call_();
    }
    F call_;
};
} // namespace lawnpp
#endif
