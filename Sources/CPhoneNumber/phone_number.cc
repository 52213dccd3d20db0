#include "CPhoneNumber.h"

#include <phonenumbers/phonenumberutil.h>

#include <cstring>
#include <set>
#include <string>

namespace {

using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

const PhoneNumberUtil &util() { return *PhoneNumberUtil::GetInstance(); }

void copy(const std::string &from, char *to, size_t room) {
    const size_t length = from.size() < room - 1 ? from.size() : room - 1;
    std::memcpy(to, from.data(), length);
    to[length] = 0;
}

phone_number describe(const PhoneNumber &number) {
    phone_number out = {};
    std::string text, region;
    util().Format(number, PhoneNumberUtil::E164, &text);
    util().GetRegionCodeForNumber(number, &region);
    copy(text, out.text, sizeof out.text);
    copy(region, out.region, sizeof out.region);
    out.kind = static_cast<phone_number_kind>(util().GetNumberType(number));
    out.code_digits = static_cast<int>(std::to_string(number.country_code()).size());
    out.verdict = util().IsValidNumber(number) ? phone_number_good : phone_number_unknown;
    return out;
}

}  // namespace

phone_number phone_number_read(const char *text, size_t length, const char *region) {
    PhoneNumber number;
    const std::string from = *region ? region : "ZZ";
    switch (util().Parse(std::string(text, length), from, &number)) {
    case PhoneNumberUtil::NO_PARSING_ERROR:
        return describe(number);
    case PhoneNumberUtil::INVALID_COUNTRY_CODE_ERROR: {
        phone_number out = {};
        out.verdict =
            phone_number_has_region(region) ? phone_number_unreadable : phone_number_needs_region;
        return out;
    }
    default:
        phone_number out = {};
        out.verdict = phone_number_unreadable;
        return out;
    }
}

bool phone_number_has_region(const char *region) {
    std::set<std::string> regions;
    util().GetSupportedRegions(&regions);
    return regions.count(region) > 0;
}

bool phone_number_example(const char *region, phone_number_kind kind, phone_number *out) {
    PhoneNumber number;
    const auto type = static_cast<PhoneNumberUtil::PhoneNumberType>(kind);
    if (!util().GetExampleNumberForType(region, type, &number)) return false;
    *out = describe(number);
    return true;
}
