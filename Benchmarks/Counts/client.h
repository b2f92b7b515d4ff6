// Shared by the loads: a connection, a request, its answer, and the counts of the server.
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include "counts.h"

static void fail(const char *what) { fprintf(stderr, "counts: %s\n", what); exit(1); }

static int dial(int port) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval patience = { .tv_sec = 20 };
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connection < 0 || connect(connection, (void *)&address, sizeof address)) fail("cannot connect");
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return connection;
}

static void ask(int connection, const char *request) {
    size_t length = strlen(request);
    if (send(connection, request, length, MSG_NOSIGNAL) != (ssize_t)length) fail("cannot send");
}

// One whole answer; its position is stored in `cursor`.
static char *answer(int connection, char cursor[64]) {
    static char bytes[65536];
    size_t length = 0;
    for (;;) {
        ssize_t count = recv(connection, bytes + length, sizeof bytes - 1 - length, 0);
        if (count <= 0) fail("no answer came");
        length += count;
        bytes[length] = 0;
        char *end = strstr(bytes, "\r\n\r\n");
        char *size = strcasestr(bytes, "\r\nContent-Length: ");
        if (!end || (size && size < end && length < (size_t)(end + 4 - bytes) + strtoul(size + 18, 0, 10))) continue;
        char *position = strcasestr(bytes, "\r\nFreshet-Cursor: ");
        if (strncmp(bytes, "HTTP/1.1 2", 10) || !position || position > end) fail(bytes);
        sscanf(position + 18, "%63[^\r]", cursor);
        return end + 4;
    }
}

static struct counts *open_counts(const char *path) {
    int file = open(path, O_RDONLY);
    struct counts *counts = file < 0 ? MAP_FAILED : mmap(0, sizeof *counts, PROT_READ, MAP_SHARED, file, 0);
    if (counts == MAP_FAILED) fail("cannot read the counts");
    return counts;
}
