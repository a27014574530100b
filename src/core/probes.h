/* probes.h - USDT probes, for tracing a lawn. docs/LIBRARY.md lists them.
 *
 * LAWN_PROBES (make PROBES=1) compiles them in and requires <sys/sdt.h>. A
 * probe that is not traced is one no-op instruction, if its arguments are in
 * registers or at a fixed offset from a register; use only such values.
 */
#ifndef LAWN_CORE_PROBES_H
#define LAWN_CORE_PROBES_H

#if defined LAWN_PROBES

#if defined __has_include
#if !__has_include(<sys/sdt.h>)
#error LAWN_PROBES needs <sys/sdt.h>: install systemtap-sdt-dev (Debian) or systemtap-sdt-devel (Fedora), or build without PROBES=1
#endif
#endif
#include <sys/sdt.h>
#if defined __clang__ /* warns about the macros of that header */
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif

/* No parameter is named lawn, because that is the name of the provider. */
#define LAWN_PROBES_START(on, timer, ttl)                                      \
    STAP_PROBE4(lawn, start, on, timer, ttl, (timer)->deadline)
#define LAWN_PROBES_STOP(on, timer)                                            \
    STAP_PROBE3(lawn, stop, on, timer, (timer)->deadline)
#define LAWN_PROBES_FIRE(on, timer)                                            \
    STAP_PROBE4(lawn, fire, on, timer, (timer)->deadline, (on)->now)
#define LAWN_PROBES_MOW(on, time, budget)                                      \
    STAP_PROBE3(lawn, mow, on, time, budget)
#define LAWN_PROBES_MOWN(on, time, fired)                                      \
    STAP_PROBE3(lawn, mown, on, time, fired)

#else

#define LAWN_PROBES_START(on, timer, ttl) ((void)0)
#define LAWN_PROBES_STOP(on, timer) ((void)0)
#define LAWN_PROBES_FIRE(on, timer) ((void)0)
#define LAWN_PROBES_MOW(on, time, budget) ((void)0)
#define LAWN_PROBES_MOWN(on, time, fired) ((void)0)

#endif
#endif
