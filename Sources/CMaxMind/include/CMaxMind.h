#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What Urd asks libmaxminddb, whose own interface is unions and variadic functions for the most part.

enum geo_database_fault {
    geo_database_good = 0,
    // It cannot be opened or read: `errno` says why.
    geo_database_unreadable = 1,
    // It is no database, or a part of one.
    geo_database_malformed = 2,
    // It was written to while it was read.
    geo_database_changing = 3,
    // There is no memory for it.
    geo_database_no_memory = 4,
};

struct geo_database;

// What is not known is empty, or zero.
struct geo_entry {
    char country[3];
    char city[128];
    int64_t asn;
    bool has_coordinates;
    double latitude;
    double longitude;
};

// A copy of the file is what is read from then on: one that is cut off beneath a mapping ends the process.
enum geo_database_fault geo_database_open(const char *path, struct geo_database **out);
void geo_database_close(struct geo_database *database);

// Seconds since 1970 when it was made, and what it calls itself.
int64_t geo_database_built(const struct geo_database *database);
void geo_database_type(const struct geo_database *database, char *text, size_t size);

// Four bytes of an address, or sixteen. False where nothing is known of it.
bool geo_database_find(
    struct geo_database *database, const uint8_t *address, size_t length, struct geo_entry *out);
