// Preloaded into a server: counts its allocations, its calls to send and receive, and those to its files, in a file that the load reads.
// build: clang -O2 -shared -fPIC count-calls.c -o count-calls.so ; run: COUNTS=FILE LD_PRELOAD=./count-calls.so server
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "counts.h"

// glibc's own names of the counted functions, so that no look-up, which allocates, is needed.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static struct counts unread, *counts = &unread;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("COUNTS");
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0 || ftruncate(file, sizeof unread)) return;
    void *shared = mmap(0, sizeof unread, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared != MAP_FAILED) counts = shared;
}

static void count(atomic_long *which) { atomic_fetch_add_explicit(which, 1, memory_order_relaxed); }

void *malloc(size_t size) { count(&counts->allocations); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { count(&counts->allocations); return __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { count(&counts->allocations); return __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { count(&counts->allocations); return __libc_memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
    count(&counts->allocations);
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : 12;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, #name)
ssize_t send(int socket, const void *bytes, size_t size, int flags) { REAL(send); count(&counts->calls); return real(socket, bytes, size, flags); }
ssize_t recv(int socket, void *bytes, size_t size, int flags) { REAL(recv); count(&counts->calls); return real(socket, bytes, size, flags); }
// Our own calls use the system call numbers, which costs less: see Sources/CLinux.
long syscall(long number, ...) {
    REAL(syscall);
    long argument[6];
    va_list list;
    va_start(list, number);
    for (int place = 0; place < 6; place++) argument[place] = va_arg(list, long);
    va_end(list);
    if (number == SYS_sendto || number == SYS_recvfrom) count(&counts->calls);
    return real(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
ssize_t pread64(int file, void *bytes, size_t size, off64_t place) { REAL(pread64); count(&counts->file_calls); return real(file, bytes, size, place); }
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t place) { REAL(pwrite64); count(&counts->file_calls); return real(file, bytes, size, place); }
int fsync(int file) { REAL(fsync); count(&counts->file_calls); return real(file); }
int fdatasync(int file) { REAL(fdatasync); count(&counts->file_calls); return real(file); }
// Locks, of which SQLite takes one or two for each snapshot. The argument is a number or an address, or is not there.
int fcntl64(int file, int command, ...) {
    REAL(fcntl64);
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    count(&counts->file_calls);
    return real(file, command, argument);
}
