#ifndef FRESHET_CLINUX_SHIM_H
#define FRESHET_CLINUX_SHIM_H

#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/uio.h>

/* glibc declares it only under _GNU_SOURCE, which a module's header cannot ask for. */
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

#endif
