/* class_ops.h - operations of the interpreter on the classes of a lawn. Only
 * cases whose first byte has OPS_CLASSES use classes. */
#ifndef LAWN_TESTS_CLASS_OPS_H
#define LAWN_TESTS_CLASS_OPS_H

#include "ops_state.h"

/* Reads whether the case has classes, and how many its lawns have. */
void class_ops_take_options(struct ops *ops, struct lawn_options *options);

/* There is a new lawn without classes. */
void class_ops_renew(struct ops *ops);

/* Returns the number of classes. */
uint32_t class_ops_count(const struct ops *ops);

/* Returns whether a timer runs in a class or is detached. */
bool class_ops_has(const struct ops *ops, uint32_t i);

/* These require that. */
void class_ops_stop(struct ops *ops, uint32_t i);
void class_ops_moved(struct ops *ops, uint32_t i);
void class_ops_compare_timer(struct ops *ops, uint32_t i);

/* Returns whether the next operation is one on classes, and runs it. */
bool class_ops_run(struct ops *ops, bool inside);

/* Compares all classes. */
void class_ops_compare_all(struct ops *ops);

/* Resumes all classes, so that all timers can fire. */
void class_ops_resume_all(struct ops *ops);

/* Frees all classes after a mow that fired all timers. */
void class_ops_finish(struct ops *ops);

#endif
