#pragma once
#include <argon2.h>
#include <string.h>

// Argon2 on the thread that calls, with as many lanes as the text says: the library's own call starts a thread for each.
static inline int shim_argon2(
    const void *passphrase, size_t count, const uint8_t *salt, size_t salt_count, uint32_t memory,
    uint32_t passes, uint32_t lanes, uint32_t version, int type, uint8_t *room, size_t room_count) {
    argon2_context context;
    memset(&context, 0, sizeof context);
    context.out = room;
    context.outlen = (uint32_t)room_count;
    context.pwd = (uint8_t *)passphrase;
    context.pwdlen = (uint32_t)count;
    context.salt = (uint8_t *)salt;
    context.saltlen = (uint32_t)salt_count;
    context.t_cost = passes;
    context.m_cost = memory;
    context.lanes = lanes;
    context.threads = 1;
    context.version = version;
    context.flags = ARGON2_DEFAULT_FLAGS;
    return argon2_ctx(&context, (argon2_type)type) == ARGON2_OK;
}
