#pragma once

// libcbor's streaming decoder, one item head at a time.
//
// Why not cbor_load: it builds a tree on the heap as large as the input's length headers ask for,
// and takes whatever CBOR can express. The streaming decoder allocates nothing and calls back for
// one item; these inline functions put what it called back with into a struct, so that Swift needs
// no callbacks of its own.

#include <cbor.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shim_cbor_kind {
    shim_cbor_other,
    shim_cbor_unsigned,
    shim_cbor_negative,
    shim_cbor_bytes,
    shim_cbor_text,
    shim_cbor_array,
    shim_cbor_map,
    shim_cbor_bool,
    shim_cbor_null,
    shim_cbor_float,
};

struct shim_cbor_head {
    enum shim_cbor_kind kind;
    /// The number, the length of a string, or how many items follow.
    uint64_t value;
    /// How many bytes of input it took, with those of a string.
    size_t read;
};

static inline void shim_cbor_set(void *context, enum shim_cbor_kind kind, uint64_t value) {
    struct shim_cbor_head *head = (struct shim_cbor_head *)context;
    head->kind = kind;
    head->value = value;
}

static inline void shim_cbor_uint8(void *c, uint8_t v) { shim_cbor_set(c, shim_cbor_unsigned, v); }
static inline void shim_cbor_uint16(void *c, uint16_t v) { shim_cbor_set(c, shim_cbor_unsigned, v); }
static inline void shim_cbor_uint32(void *c, uint32_t v) { shim_cbor_set(c, shim_cbor_unsigned, v); }
static inline void shim_cbor_uint64(void *c, uint64_t v) { shim_cbor_set(c, shim_cbor_unsigned, v); }
static inline void shim_cbor_nint8(void *c, uint8_t v) { shim_cbor_set(c, shim_cbor_negative, v); }
static inline void shim_cbor_nint16(void *c, uint16_t v) { shim_cbor_set(c, shim_cbor_negative, v); }
static inline void shim_cbor_nint32(void *c, uint32_t v) { shim_cbor_set(c, shim_cbor_negative, v); }
static inline void shim_cbor_nint64(void *c, uint64_t v) { shim_cbor_set(c, shim_cbor_negative, v); }
static inline void shim_cbor_byte_string(void *c, cbor_data bytes, uint64_t count) {
    (void)bytes;
    shim_cbor_set(c, shim_cbor_bytes, count);
}
static inline void shim_cbor_string(void *c, cbor_data bytes, uint64_t count) {
    (void)bytes;
    shim_cbor_set(c, shim_cbor_text, count);
}
static inline void shim_cbor_array_start(void *c, uint64_t n) { shim_cbor_set(c, shim_cbor_array, n); }
static inline void shim_cbor_map_start(void *c, uint64_t n) { shim_cbor_set(c, shim_cbor_map, n); }
static inline void shim_cbor_boolean(void *c, bool v) { shim_cbor_set(c, shim_cbor_bool, v); }
static inline void shim_cbor_nothing(void *c) { shim_cbor_set(c, shim_cbor_null, 0); }
static inline void shim_cbor_float4(void *c, float v) { (void)v; shim_cbor_set(c, shim_cbor_float, 0); }
static inline void shim_cbor_float8(void *c, double v) { (void)v; shim_cbor_set(c, shim_cbor_float, 0); }

/// False when there is no item: too little input, or bytes that CBOR gives no meaning. Indefinite
/// lengths, tags and `undefined` come as `shim_cbor_other`.
static inline bool shim_cbor_read(
    const uint8_t *bytes, size_t count, struct shim_cbor_head *head) {
    struct cbor_callbacks callbacks = cbor_empty_callbacks;
    callbacks.uint8 = shim_cbor_uint8;
    callbacks.uint16 = shim_cbor_uint16;
    callbacks.uint32 = shim_cbor_uint32;
    callbacks.uint64 = shim_cbor_uint64;
    callbacks.negint8 = shim_cbor_nint8;
    callbacks.negint16 = shim_cbor_nint16;
    callbacks.negint32 = shim_cbor_nint32;
    callbacks.negint64 = shim_cbor_nint64;
    callbacks.byte_string = shim_cbor_byte_string;
    callbacks.string = shim_cbor_string;
    callbacks.array_start = shim_cbor_array_start;
    callbacks.map_start = shim_cbor_map_start;
    callbacks.boolean = shim_cbor_boolean;
    callbacks.null = shim_cbor_nothing;
    callbacks.float2 = shim_cbor_float4;
    callbacks.float4 = shim_cbor_float4;
    callbacks.float8 = shim_cbor_float8;
    head->kind = shim_cbor_other;
    head->value = 0;
    struct cbor_decoder_result result = cbor_stream_decode(bytes, count, &callbacks, head);
    head->read = result.read;
    return result.status == CBOR_DECODER_FINISHED;
}
