// How much memory is allocated, which the Glibc module does not offer.
#include <malloc.h>
