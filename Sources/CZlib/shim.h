#pragma once
#include <stdlib.h>
#include <zlib.h>

// Beginning is a macro of zlib. A stream stays where it is, because zlib keeps its address.
static inline z_stream *shim_gzip_start(int level) {
    z_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) return NULL;
    // 16 beside the largest window: with the header and the end of gzip.
    if (deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK) return stream;
    free(stream);
    return NULL;
}

static inline void shim_gzip_end(z_stream *stream) {
    deflateEnd(stream);
    free(stream);
}

static inline void shim_gzip_give(z_stream *stream, const void *bytes, size_t count) {
    stream->next_in = (Bytef *)bytes;
    stream->avail_in = (uInt)count;
}

// How many bytes came out; fewer than there is room for when nothing more comes. Negative: out of order.
static inline long shim_gzip_take(z_stream *stream, void *room, size_t size, int flush) {
    stream->next_out = room;
    stream->avail_out = (uInt)size;
    int result = deflate(stream, flush);
    if (result == Z_STREAM_ERROR) return -1;
    return (long)(size - stream->avail_out);
}
