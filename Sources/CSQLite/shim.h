#ifndef FRESHET_CSQLITE_SHIM_H
#define FRESHET_CSQLITE_SHIM_H

#include <sqlite3.h>

// SQLITE_TRANSIENT and SQLITE_STATIC are casts that Swift cannot import.

// SQLite copies the bytes before the call returns.
static inline int freshet_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

static inline int freshet_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// SQLite reads the caller's own bytes: they must stay in place until the parameter is bound anew.
static inline int freshet_bind_blob_in_place(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_STATIC);
}

static inline int freshet_bind_text_in_place(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_STATIC);
}

// A variadic function, which Swift cannot call: extended result codes say which kind of a failure it was.
static inline int freshet_database_config(sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}

static inline int freshet_config_memory_status(int isOn) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, isOn); }

#endif
