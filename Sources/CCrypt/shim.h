#pragma once
#include <crypt.h>
#include <stdlib.h>
#include <string.h>

// The text that the setting makes of a passphrase; 0 where it makes none. In C, because the library's working memory is
// a structure of 32 KiB, which is wiped before it is freed.
static inline int shim_crypt(const char *passphrase, const char *setting, char *room, size_t size) {
    struct crypt_data *data = calloc(1, sizeof *data);
    const char *made = data == NULL ? NULL : crypt_rn(passphrase, setting, data, sizeof *data);
    size_t length = made == NULL ? 0 : strlen(made);
    int done = length > 0 && length < size;
    if (done)
        memcpy(room, made, length + 1);
    if (data != NULL)
        explicit_bzero(data, sizeof *data);
    free(data);
    return done;
}
