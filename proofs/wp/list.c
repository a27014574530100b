/* list.c - the lists of the core. */
#include "list.h"
