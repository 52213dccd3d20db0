#define _GNU_SOURCE
#include "CMaxMind.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <maxminddb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct geo_database {
    MMDB_s mmdb;
};

static bool is_same(const struct stat *before, const struct stat *after) {
    return before->st_size == after->st_size && before->st_mtim.tv_sec == after->st_mtim.tv_sec &&
           before->st_mtim.tv_nsec == after->st_mtim.tv_nsec;
}

static enum geo_database_fault copy(int from, int to) {
    struct stat before, after;
    if (fstat(from, &before) != 0) return geo_database_unreadable;
    if (!S_ISREG(before.st_mode)) {
        errno = EINVAL;
        return geo_database_unreadable;
    }
    enum { room_size = 1 << 16 };
    char room[room_size];
    for (;;) {
        ssize_t count = read(from, room, room_size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return geo_database_unreadable;
        if (count == 0) break;
        for (ssize_t done = 0; done < count;) {
            ssize_t written = write(to, room + done, (size_t)(count - done));
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return geo_database_no_memory;
            done += written;
        }
    }
    if (fstat(from, &after) != 0) return geo_database_unreadable;
    return is_same(&before, &after) ? geo_database_good : geo_database_changing;
}

// Every node of the tree leads on within the file.
static bool is_whole(MMDB_s *mmdb) {
    for (uint32_t number = 0; number < mmdb->metadata.node_count; number++) {
        MMDB_search_node_s node;
        if (MMDB_read_node(mmdb, number, &node) != MMDB_SUCCESS) return false;
        if (node.left_record_type == MMDB_RECORD_TYPE_INVALID ||
            node.right_record_type == MMDB_RECORD_TYPE_INVALID)
            return false;
    }
    return true;
}

static enum geo_database_fault open_copy(int copied, struct geo_database **out) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", copied);
    struct geo_database *database = calloc(1, sizeof *database);
    if (!database) return geo_database_no_memory;
    int status = MMDB_open(path, MMDB_MODE_MMAP, &database->mmdb);
    if (status != MMDB_SUCCESS) {
        free(database);
        return status == MMDB_OUT_OF_MEMORY_ERROR ? geo_database_no_memory
                                                  : geo_database_malformed;
    }
    if (!is_whole(&database->mmdb)) {
        geo_database_close(database);
        return geo_database_malformed;
    }
    *out = database;
    return geo_database_good;
}

enum geo_database_fault geo_database_open(const char *path, struct geo_database **out) {
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (from < 0) return geo_database_unreadable;
    int copied = memfd_create("urd-geo-database", MFD_CLOEXEC);
    if (copied < 0) {
        close(from);
        return geo_database_no_memory;
    }
    enum geo_database_fault fault = copy(from, copied);
    int code = errno;
    close(from);
    if (fault == geo_database_good) fault = open_copy(copied, out);
    close(copied);
    errno = code;
    return fault;
}

void geo_database_close(struct geo_database *database) {
    MMDB_close(&database->mmdb);
    free(database);
}

int64_t geo_database_built(const struct geo_database *database) {
    return (int64_t)database->mmdb.metadata.build_epoch;
}

void geo_database_type(const struct geo_database *database, char *text, size_t size) {
    const char *type = database->mmdb.metadata.database_type;
    snprintf(text, size, "%s", type ? type : "");
}

// MARK: - Entries

typedef const char *const *path_t;

static bool value_at(MMDB_entry_s *entry, path_t path, MMDB_entry_data_s *data) {
    return MMDB_aget_value(entry, data, path) == MMDB_SUCCESS && data->has_data;
}

static bool text_at(MMDB_entry_s *entry, path_t path, char *text, size_t size) {
    MMDB_entry_data_s data;
    if (!value_at(entry, path, &data) || data.type != MMDB_DATA_TYPE_UTF8_STRING) return false;
    if (data.data_size == 0 || data.data_size >= size) return false;
    memcpy(text, data.utf8_string, data.data_size);
    text[data.data_size] = 0;
    return true;
}

static bool number_at(MMDB_entry_s *entry, path_t path, double *number) {
    char text[32];
    MMDB_entry_data_s data;
    if (!value_at(entry, path, &data)) return false;
    switch (data.type) {
    case MMDB_DATA_TYPE_DOUBLE: *number = data.double_value; return true;
    case MMDB_DATA_TYPE_FLOAT: *number = data.float_value; return true;
    case MMDB_DATA_TYPE_UTF8_STRING:
        if (!text_at(entry, path, text, sizeof text)) return false;
        char *end;
        *number = strtod(text, &end);
        return end != text && *end == 0;
    default: return false;
    }
}

static int64_t system_number(MMDB_entry_s *entry, path_t path) {
    char text[32];
    MMDB_entry_data_s data;
    if (!value_at(entry, path, &data)) return 0;
    switch (data.type) {
    case MMDB_DATA_TYPE_UINT16: return data.uint16;
    case MMDB_DATA_TYPE_UINT32: return data.uint32;
    case MMDB_DATA_TYPE_UTF8_STRING:
        if (!text_at(entry, path, text, sizeof text)) return 0;
        const char *digits = strncmp(text, "AS", 2) == 0 ? text + 2 : text;
        char *end;
        unsigned long long number = strtoull(digits, &end, 10);
        return end == digits || *end != 0 || number > UINT32_MAX ? 0 : (int64_t)number;
    default: return 0;
    }
}

static void read_country(MMDB_entry_s *entry, path_t path, struct geo_entry *out) {
    char code[3];
    if (out->country[0] || !text_at(entry, path, code, sizeof code)) return;
    for (int index = 0; index < 2; index++)
        if (code[index] < 'A' || code[index] > 'Z') return;
    memcpy(out->country, code, sizeof code);
}

// By the names of MaxMind and DB-IP, and then those of databases whose entries are flat.
static void read_entry(MMDB_entry_s *entry, struct geo_entry *out) {
    read_country(entry, (const char *[]){"country", "iso_code", NULL}, out);
    read_country(entry, (const char *[]){"country_code", NULL}, out);
    read_country(entry, (const char *[]){"country", NULL}, out);

    path_t cities[] = {
        (const char *[]){"city", "names", "en", NULL}, (const char *[]){"city", NULL}};
    for (int index = 0; index < 2 && !out->city[0]; index++)
        text_at(entry, cities[index], out->city, sizeof out->city);

    path_t systems[] = {
        (const char *[]){"autonomous_system_number", NULL},
        (const char *[]){"traits", "autonomous_system_number", NULL},
        (const char *[]){"asn", NULL}};
    for (int index = 0; index < 3 && !out->asn; index++)
        out->asn = system_number(entry, systems[index]);

    path_t places[][2] = {
        {(const char *[]){"location", "latitude", NULL},
         (const char *[]){"location", "longitude", NULL}},
        {(const char *[]){"latitude", NULL}, (const char *[]){"longitude", NULL}},
        {(const char *[]){"lat", NULL}, (const char *[]){"lng", NULL}}};
    for (int index = 0; index < 3 && !out->has_coordinates; index++)
        out->has_coordinates = number_at(entry, places[index][0], &out->latitude) &&
                               number_at(entry, places[index][1], &out->longitude);
}

bool geo_database_find(
    struct geo_database *database, const uint8_t *address, size_t length, struct geo_entry *out) {
    memset(out, 0, sizeof *out);
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    const struct sockaddr *place;
    if (length == 4) {
        memcpy(&four.sin_addr, address, 4);
        place = (const struct sockaddr *)&four;
    } else if (length == 16) {
        memcpy(&six.sin6_addr, address, 16);
        place = (const struct sockaddr *)&six;
    } else {
        return false;
    }
    int error = MMDB_SUCCESS;
    MMDB_lookup_result_s found = MMDB_lookup_sockaddr(&database->mmdb, place, &error);
    if (error != MMDB_SUCCESS || !found.found_entry) return false;
    read_entry(&found.entry, out);
    return true;
}
