/* invariant.h - checks that stay in release builds, for rules whose violation
 * means that data is lost or that master and replicas differ.
 */
#ifndef INVARIANT_H
#define INVARIANT_H

/* Stops the server if the condition is false. Evaluates the condition in every
 * build. meaning describes the violation. */
#define INVARIANT(condition, meaning)                                          \
    (__builtin_expect(!(condition), 0)                                         \
         ? invariant_failed(#condition, (meaning), __FILE__, __LINE__,         \
                            __func__)                                          \
         : (void)0)

/* Logs a warning with these arguments, and stops the server: by
 * RedisModule__Assert(), which writes a crash report, or by abort() if the
 * server lacks that function. */
_Noreturn void invariant_failed(const char *condition, const char *meaning,
                                const char *file, int line,
                                const char *function);

#endif
