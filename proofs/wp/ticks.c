/* ticks.c - the arithmetic on times of the core. */
#include "ticks.h"
