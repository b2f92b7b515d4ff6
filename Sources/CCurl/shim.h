#ifndef FRESHET_CCURL_SHIM_H
#define FRESHET_CCURL_SHIM_H

#include <curl/curl.h>

// curl_easy_setopt and its kin are variadic, which Swift cannot call: one shim per kind of argument.
static inline CURLcode freshet_setopt_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

#endif
