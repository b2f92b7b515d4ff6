#ifndef FRESHET_CLINUX_SHIM_H
#define FRESHET_CLINUX_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* glibc declares it only under _GNU_SOURCE, which a module's header cannot ask for. */
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

/* recv and send by their numbers: glibc's are points of cancellation, two atomic operations a call where there are threads, and ours
   are never cancelled: https://man7.org/linux/man-pages/man7/pthreads.7.html */
static inline ssize_t freshet_receive(int socket, void *bytes, size_t count) {
    return syscall(SYS_recvfrom, socket, bytes, count, 0, (void *)0, (void *)0);
}

static inline ssize_t freshet_send(int socket, const void *bytes, size_t count, int flags) {
    return syscall(SYS_sendto, socket, bytes, count, flags, (void *)0, 0);
}

/* The bytes that the kernel keeps of a TCP socket since the peer has not acknowledged them (tcp(7), SIOCOUTQ); -1 where it cannot tell.
   ioctl takes variable arguments, which Swift cannot pass. */
static inline int freshet_unacknowledged(int socket) {
    int count = 0;
    return ioctl(socket, SIOCOUTQ, &count) == 0 ? count : -1;
}

/* prctl takes variable arguments too: 0 disables core dumps. */
static inline int freshet_set_dumpable(int is_dumpable) { return prctl(PR_SET_DUMPABLE, (unsigned long)is_dumpable, 0, 0, 0); }

/* Opens a file for freshet_read_cached; -1 where that is not allowed. Without O_NOATIME, which is the owner's right, a read
   may wait for the file system's journal, to note its time. The flag is declared only under _GNU_SOURCE. */
static inline int freshet_open_cached(const char *path) {
    return open(path, O_RDONLY | O_CLOEXEC | 01000000 /* O_NOATIME */);
}

static inline int freshet_cannot_tell(void) {
    return errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM || errno == EINVAL;
}

/* Reads bytes that are in the page cache, and never waits for a disk: -1 where one of them is not there now, and -2 where
   the system can never tell for this file: an older kernel (ENOSYS), a file system that does not know the flag
   (EOPNOTSUPP), a sandbox that forbids the call (EPERM).

   RWF_NOWAIT alone does not suffice: for a page that is missing, the kernel begins to read ahead, and may wait for the
   file system's own blocks or for a place in the disk's queue. So cachestat (Linux 6.5) is asked first, and RWF_NOWAIT
   covers a page that leaves in between: https://man7.org/linux/man-pages/man2/readv.2.html. The number of cachestat is
   the same on all architectures but Alpha. */
static inline ssize_t freshet_read_cached(int file, void *bytes, size_t count, off_t offset, size_t page_size) {
    struct { uint64_t start, length; } range = {(uint64_t)offset, count};
    struct { uint64_t cached, dirty, written_back, evicted, recently_evicted; } pages = {0, 0, 0, 0, 0};
    if (count == 0) return -1;
    if (syscall(451, file, &range, &pages, 0) != 0) return freshet_cannot_tell() ? -2 : -1;
    if (pages.cached != ((uint64_t)offset + count - 1) / page_size - (uint64_t)offset / page_size + 1) return -1;
    struct iovec vector = {bytes, count};
    ssize_t read = syscall(SYS_preadv2, file, &vector, 1, (long)offset, (long)((uint64_t)offset >> 32),
                           0x8 /* RWF_NOWAIT */);
    return read < 0 && freshet_cannot_tell() ? -2 : read;
}

#endif
