#ifndef FRESHET_CPOSTGRESQL_SHIM_H
#define FRESHET_CPOSTGRESQL_SHIM_H

#include <libpq-fe.h>

// The names of an error's fields are macros for characters, which Swift cannot import.

static inline const char *freshet_result_sqlstate(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

static inline const char *freshet_result_message(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

static inline const char *freshet_result_detail(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
}

// The function of the server that reported. Unlike the message it is not translated.
static inline const char *freshet_result_function(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
}

#endif
