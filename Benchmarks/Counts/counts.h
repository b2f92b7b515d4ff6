// The counts of count-calls.c, in memory that it shares with the loads.
#include <stdatomic.h>

struct counts { atomic_long allocations, calls, file_calls; };
