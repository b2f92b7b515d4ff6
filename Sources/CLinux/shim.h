#ifndef FRESHET_CLINUX_SHIM_H
#define FRESHET_CLINUX_SHIM_H

#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
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

#endif
