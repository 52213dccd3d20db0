#pragma once

#include <stdbool.h>
#include <stddef.h>

// libphonenumber has no interface for C. What is not said here, callers do not need.

enum phone_number_verdict {
    phone_number_good = 0,
    // No digits, too few or too many of them, or no country has the code.
    phone_number_unreadable = 1,
    // Without a country's code, and no region was named.
    phone_number_needs_region = 2,
    // No such number is given out.
    phone_number_unknown = 3,
};

// In the order of PhoneNumberUtil::PhoneNumberType.
enum phone_number_kind {
    phone_number_fixed_line = 0,
    phone_number_mobile,
    phone_number_fixed_line_or_mobile,
    phone_number_toll_free,
    phone_number_premium_rate,
    phone_number_shared_cost,
    phone_number_voip,
    phone_number_personal,
    phone_number_pager,
    phone_number_uan,
    phone_number_voicemail,
    phone_number_other,
};

struct phone_number {
    enum phone_number_verdict verdict;
    enum phone_number_kind kind;
    // E.164, such as "+41791234567".
    char text[24];
    // ISO 3166-1 alpha-2, or "001" where it belongs to none.
    char region[4];
    // How many digits the country's code has.
    int code_digits;
};

#ifdef __cplusplus
extern "C" {
#endif

// `region` is where a number without a country's code is read as from; empty where none is.
struct phone_number phone_number_read(const char *text, size_t length, const char *region);

// Whether there is a region of this name.
bool phone_number_has_region(const char *region);

// The published example of a kind of number in a region; false where there is none.
bool phone_number_example(const char *region, enum phone_number_kind kind, struct phone_number *out);

#ifdef __cplusplus
}
#endif
