#ifndef FRESHET_CCURL_SHIM_H
#define FRESHET_CCURL_SHIM_H

#include <curl/curl.h>

// curl_easy_setopt and its kin are variadic, which Swift cannot call: one shim per kind of argument.

static inline CURLcode freshet_setopt_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode freshet_setopt_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode freshet_setopt_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode freshet_setopt_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

// The callbacks for the body and for the header share one signature: https://curl.se/libcurl/c/CURLOPT_WRITEFUNCTION.html
typedef size_t (*freshet_receive)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode freshet_setopt_receive(CURL *handle, CURLoption option, freshet_receive value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode freshet_getinfo_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode freshet_getinfo_pointer(CURL *handle, CURLINFO info, void **value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLMcode freshet_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLSHcode freshet_share(CURLSH *share, curl_lock_data data) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, data);
}

// The result is a member of a union, which Swift would have to take apart by hand.
static inline CURLcode freshet_message_result(const CURLMsg *message) { return message->data.result; }

// Swift imports these two macros as untyped expressions.
static const unsigned int freshet_error_size = CURL_ERROR_SIZE;

#endif
