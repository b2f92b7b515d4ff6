// request PORT COUNTS KIND COUNT: COUNT requests, one after the other, on existing records. KIND is get, put or batch,
// which is a POST of 16 numbered writes. Prints the server's work for one request: allocations, calls to send and
// receive, calls to its files.
#include "client.h"

enum { records = 16 };
static const char *value = "{\"pad\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}";

static void write_request(char *request, size_t size, const char *kind, int number) {
    static char body[16384];
    if (!strcmp(kind, "get")) {
        snprintf(request, size, "GET /v1/counts/records/c/%d HTTP/1.1\r\nHost: localhost\r\n\r\n", number % records);
    } else if (!strcmp(kind, "put")) {
        snprintf(request, size, "PUT /v1/counts/records/c/%d HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                 number % records, strlen(value), value);
    } else if (!strcmp(kind, "batch")) {
        size_t length = sprintf(body, "{\"client\":\"counts\",\"writes\":[");
        for (int write = 0; write < records; write++)
            length += sprintf(body + length, "%s{\"number\":%d,\"op\":\"put\",\"key\":\"c/%d\",\"value\":%s}", write ? "," : "",
                              number * records + write + 1, write, value);
        length += sprintf(body + length, "]}");
        snprintf(request, size, "POST /v1/counts/writes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                 length, body);
    } else {
        fail("KIND is get, put or batch");
    }
}

int main(int count, char **arguments) {
    if (count != 5) fail("takes PORT COUNTS KIND COUNT");
    struct counts *counts = open_counts(arguments[2]);
    int connection = dial(atoi(arguments[1])), requests = atoi(arguments[4]), warm = 64;
    char cursor[64], request[32768];
    // Makes the records exist, for every kind of request.
    for (int number = 0; number < records; number++) {
        write_request(request, sizeof request, "put", number);
        ask(connection, request);
        answer(connection, cursor);
    }
    struct counts before = { 0 };
    for (int number = 0; number < warm + requests; number++) {
        if (number == warm) before = (struct counts){ counts->allocations, counts->calls, counts->file_calls };
        write_request(request, sizeof request, arguments[3], number);
        ask(connection, request);
        answer(connection, cursor);
    }
    printf("%.3f %.3f %.3f\n", (counts->allocations - before.allocations) / (double)requests, (counts->calls - before.calls) / (double)requests,
           (counts->file_calls - before.file_calls) / (double)requests);
}
