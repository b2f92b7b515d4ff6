#ifndef FRESHET_BENCH_EPOLL_H
#define FRESHET_BENCH_EPOLL_H

#include <stddef.h>
#include <sys/epoll.h>

// A GNU extension of string.h that Glibc's module leaves out; https://man7.org/linux/man-pages/man3/memmem.3.html
void *memmem(const void *haystack, size_t haystack_length, const void *needle, size_t needle_length);

#endif
