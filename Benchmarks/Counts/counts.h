// What count-calls.c counts and follow.c reads, in memory that both share.
#include <stdatomic.h>

struct counts { atomic_long allocations, calls; };
