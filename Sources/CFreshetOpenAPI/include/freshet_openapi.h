#ifndef FRESHET_OPENAPI_H
#define FRESHET_OPENAPI_H

#include <stddef.h>

/// A file that is part of the program: bytes in UTF-8 without a NUL at their end, valid as long as the process runs.
typedef struct {
    const unsigned char *bytes;
    size_t count;
} freshet_openapi_file;

/// The OpenAPI document of a server.
freshet_openapi_file freshet_openapi_document(void);

#endif
