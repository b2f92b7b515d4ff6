// follow PORT COUNTS CLIENTS CHANGES: followers of one namespace, each with a connection and an open poll, and changes
// one after another. Prints the server's work for one delivery with the poll after it: allocations, calls to send and
// receive, calls to its files. The work of the change itself is included, spread over the clients. The requests that
// check whether all polls are parked are excluded: the work of one is counted first, and a slow machine needs more of
// them.
#include <sys/resource.h>
#include "client.h"

static int waiting(int control) {
    char cursor[64];
    ask(control, "GET /v1/counts HTTP/1.1\r\nHost: localhost\r\n\r\n");
    char *number = strstr(answer(control, cursor), "\"waiting\":");
    return number ? atoi(number + 10) : -1;
}

// Returns how many such requests were made.
static int wait_until_parked(int control, int clients) {
    useconds_t pause = 5000;
    for (int questions = 1; questions < 30; questions++) {
        if (waiting(control) == clients) return questions;
        usleep(pause);
        if (pause < 4000000) pause *= 2;
    }
    fail("the polls were not parked");
    return 0;
}

int main(int count, char **arguments) {
    if (count != 5) fail("takes PORT COUNTS CLIENTS CHANGES");
    int port = atoi(arguments[1]), clients = atoi(arguments[3]), changes = atoi(arguments[4]);
    // From the tenth change on, positions of all polls have the same length, as they have mostly.
    const int warm = 12;
    struct rlimit descriptors;
    if (!getrlimit(RLIMIT_NOFILE, &descriptors)) { descriptors.rlim_cur = descriptors.rlim_max; setrlimit(RLIMIT_NOFILE, &descriptors); }
    struct counts *counts = open_counts(arguments[2]);

    char cursor[64], request[512];
    int control = dial(port), *followers = calloc(clients, sizeof *followers);
    for (int client = 0; client < clients; client++) followers[client] = dial(port);
    double allocations = 0, calls = 0, file_calls = 0, question_allocations = 0, question_calls = 0;
    for (int change = -warm; change <= changes; change++) {
        snprintf(request, sizeof request, "PUT /v1/counts/records/c/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n%6d",
                 change + 100);
        long allocations_before = counts->allocations, calls_before = counts->calls, file_calls_before = counts->file_calls;
        ask(control, request);
        answer(control, cursor);
        if (change > -warm) for (int client = 0; client < clients; client++) answer(followers[client], cursor);
        snprintf(request, sizeof request, "GET /v1/counts/changes?since=%s&wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n", cursor);
        for (int client = 0; client < clients; client++) ask(followers[client], request);
        int questions = wait_until_parked(control, clients);
        if (change > 0) {
            allocations += counts->allocations - allocations_before - questions * question_allocations;
            calls += counts->calls - calls_before - questions * question_calls;
            file_calls += counts->file_calls - file_calls_before;
        } else if (change == 0) {
            const int samples = 100;
            allocations_before = counts->allocations, calls_before = counts->calls;
            for (int sample = 0; sample < samples; sample++) waiting(control);
            question_allocations = (counts->allocations - allocations_before) / (double)samples;
            question_calls = (counts->calls - calls_before) / (double)samples;
        }
    }
    printf("%.3f %.3f %.3f\n", allocations / changes / clients, calls / changes / clients, file_calls / changes / clients);
}
