// LatencyFloor FOLDER WRITES RATE: what a durable write on one device and its observation on another take where nothing is computed.
//
// Three processes and two connections over loopback, as with Freshet: a device appends to its log, waits for the disk and sends; the server
// appends, waits for the disk, tells the other device and answers; that one appends, and has observed it. The logs get as many pages of
// SQLite's as Freshet's do, over parts that are on disk already, and messages are as long. Prints each write's milliseconds in a line.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// A page in SQLite's log, with its header.
enum { frame = 4096 + 24, frames = 1000 };
enum { device_frames = 2, server_frames = 5 };
enum { request_size = 330, answer_size = 260, page_size = 395 };

struct log { int file; int next; };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

// Full from the start, so that no commit waits until the file has grown.
static struct log open_log(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    struct log log = { .file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) };
    char *zeros = calloc(frames, frame);
    if (log.file < 0 || !zeros || pwrite(log.file, zeros, frames * frame, 0) != frames * frame || fsync(log.file)) fail(path);
    free(zeros);
    return log;
}

static void append(struct log *log, int count) {
    static const char bytes[frame];
    for (int index = 0; index < count; index++) {
        if (pwrite(log->file, bytes, frame, (off_t)log->next * frame) != frame) fail("write");
        log->next = (log->next + 1) % frames;
    }
}

static void sync_log(struct log *log) {
    if (fdatasync(log->file)) fail("fdatasync");
}

static void send_message(int connection, int size) {
    static const char bytes[4096];
    if (send(connection, bytes, size, MSG_NOSIGNAL) != size) fail("send");
}

static int receive_message(int connection, int size) {
    char bytes[4096];
    return recv(connection, bytes, size, MSG_WAITALL) == size;
}

static void send_at_once(int connection) {
    int yes = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

static int dial(int port) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connection < 0 || connect(connection, (void *)&address, sizeof address)) fail("connect");
    send_at_once(connection);
    return connection;
}

static void serve(const char *folder, int listener) {
    struct log log = open_log(folder, "server");
    // The observer connects first.
    int observer = accept(listener, 0, 0), writer = accept(listener, 0, 0);
    if (observer < 0 || writer < 0) fail("accept");
    send_at_once(observer);
    send_at_once(writer);
    send_message(writer, answer_size);
    while (receive_message(writer, request_size)) {
        append(&log, server_frames);
        sync_log(&log);
        send_message(observer, page_size);
        send_message(writer, answer_size);
    }
    exit(0);
}

static void observe(const char *folder, int connection, double *arrivals, int writes) {
    struct log log = open_log(folder, "observer");
    for (int write = 0; write < writes; write++) {
        if (!receive_message(connection, page_size)) fail("receive");
        append(&log, device_frames);
        arrivals[write] = milliseconds();
    }
    exit(0);
}

static pid_t begin(void) {
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

int main(int count, char **arguments) {
    if (count != 4 || atoi(arguments[2]) < 1 || atof(arguments[3]) <= 0) {
        fprintf(stderr, "takes FOLDER WRITES RATE: an existing folder, how many writes, and how many of them a second\n");
        return 2;
    }
    const char *folder = arguments[1];
    int writes = atoi(arguments[2]);
    double rate = atof(arguments[3]);

    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (void *)&address, sizeof address) || listen(listener, 2)) fail("listen");
    getsockname(listener, (void *)&address, &length);
    double *arrivals = mmap(0, writes * sizeof *arrivals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double *departures = calloc(writes, sizeof *departures);
    if (arrivals == MAP_FAILED || !departures) fail("memory");

    if (begin() == 0) serve(folder, listener);
    int observing = dial(ntohs(address.sin_port));
    pid_t observer = begin();
    if (observer == 0) observe(folder, observing, arrivals, writes);
    int connection = dial(ntohs(address.sin_port));
    struct log log = open_log(folder, "writer");
    // By then the server has both connections.
    if (!receive_message(connection, answer_size)) fail("receive");

    double start = milliseconds();
    for (int write = 0; write < writes; write++) {
        double due = start + 1000 * (write + 1) / rate;
        struct timespec time = { .tv_sec = due / 1000, .tv_nsec = (long)((due - 1000 * (long)(due / 1000)) * 1e6) };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, 0);
        departures[write] = milliseconds();
        append(&log, device_frames);
        sync_log(&log);
        send_message(connection, request_size);
        if (!receive_message(connection, answer_size)) fail("receive");
    }
    close(connection);
    int status = 0;
    if (waitpid(observer, &status, 0) != observer || status != 0) fail("observer");
    for (int write = 0; write < writes; write++) printf("%.4f\n", arrivals[write] - departures[write]);
    return 0;
}
