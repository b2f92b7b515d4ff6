// What count-calls.c counts and the loads read, in memory that both share.
#include <stdatomic.h>

struct counts { atomic_long allocations, calls, file_calls; };
