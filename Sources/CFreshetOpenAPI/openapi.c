#include "freshet_openapi.h"

static const unsigned char document[] = {
#embed "document/openapi.json"
};

freshet_openapi_file freshet_openapi_document(void) { return (freshet_openapi_file){document, sizeof document}; }
