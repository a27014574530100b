/* all.h - the contenders of this tree. */
#ifndef LAWN_BENCH_CONTENDERS_ALL_H
#define LAWN_BENCH_CONTENDERS_ALL_H

#include "contender.h"

extern const struct contender lawn_contender;
extern const struct contender lawn_class_contender;
extern const struct contender list_contender;
extern const struct contender tree_contender;
extern const struct contender heap2_contender;
extern const struct contender heap4_contender;
extern const struct contender hashed_contender;
extern const struct contender growing_contender;
extern const struct contender wheel_contender;
extern const struct contender calendar_contender;
extern const struct contender paper_contender;
extern const struct contender heads_contender;
extern const struct contender floor_contender;

#endif
