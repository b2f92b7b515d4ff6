#include "freshet_openapi.h"

static const unsigned char document[] = {
#embed "document/openapi.json"
};

static const unsigned char faults[] = {
#embed "document/openapi-faults.json"
};

freshet_openapi_file freshet_openapi_document(void) { return (freshet_openapi_file){document, sizeof document}; }

freshet_openapi_file freshet_openapi_faults(void) { return (freshet_openapi_file){faults, sizeof faults}; }
