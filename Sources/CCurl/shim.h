#pragma once

// What Swift needs of libcurl: variadic calls, which Swift cannot make, with fixed parameters.
// The options keep their types, because libcurl reads a `long` where an `int` was passed as rubbish.

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

static inline CURLcode shim_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode shim_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode shim_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode shim_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode shim_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

struct shim_callbacks {
    void *context;
    size_t (*body)(char *bytes, size_t size, size_t count, void *context);
    size_t (*header)(char *bytes, size_t size, size_t count, void *context);
    size_t (*upload)(char *bytes, size_t size, size_t count, void *context);
    int (*progress)(void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
    curl_socket_t (*socket)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
};

static inline void shim_set_callbacks(CURL *handle, const struct shim_callbacks *callbacks) {
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, callbacks->body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, callbacks->context);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, callbacks->header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, callbacks->context);
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, callbacks->upload);
    curl_easy_setopt(handle, CURLOPT_READDATA, callbacks->context);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, callbacks->progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, callbacks->context);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, callbacks->socket);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, callbacks->context);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
}

static inline long shim_get_number(CURL *handle, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(handle, info, &value);
    return value;
}

// The bytes of the address that libcurl is about to call; 0 for what is neither IPv4 nor IPv6.
static inline size_t shim_address(const struct curl_sockaddr *address, uint8_t *bytes) {
    // libcurl keeps room for any family behind what the struct declares.
    const char *place = (const char *)address + offsetof(struct curl_sockaddr, addr);
    if (address->family == AF_INET && address->addrlen >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in four;
        memcpy(&four, place, sizeof four);
        memcpy(bytes, &four.sin_addr, 4);
        return 4;
    }
    if (address->family == AF_INET6 && address->addrlen >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 six;
        memcpy(&six, place, sizeof six);
        memcpy(bytes, &six.sin6_addr, 16);
        return 16;
    }
    return 0;
}

static inline curl_socket_t shim_open_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}
