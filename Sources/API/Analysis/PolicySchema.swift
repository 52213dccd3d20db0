internal import Identity

/// How policies are written. `PolicyReader` reads them; here is what it takes.
enum PolicySchema {
    private static let duration = Schema.text(
        2...9,
        .said(
            "a time such as 30m, 12h or 7d",
            .sequence([.some(Characters("0-9"), 1...8), .some(Characters("smhd"), 1...1)])))
    private static let time = Schema.text(
        5...5,
        .said(
            "a time of the day such as 07:30",
            .sequence([
                .some(Characters("0-9"), 2...2), .text(":"), .some(Characters("0-9"), 2...2),
            ])))
    private static let offset = Schema.text(
        6...6,
        .said(
            "a distance from UTC such as +01:00",
            .sequence([
                .some(Characters("-+"), 1...1), .some(Characters("0-9"), 2...2), .text(":"),
                .some(Characters("0-9"), 2...2),
            ])))
    private static let names = Schema.list(of: .text(1...255), 1...PolicyReader.mostValues)

    private static func choice(_ name: String, _ value: Schema, _ what: String) -> Schema {
        let values = Schema.list(of: value, 1...PolicyReader.mostValues)
        return .named(
            name,
            .object(
                .optional("allow", values, "\(what) that are allowed, and no others."),
                .optional("deny", values, "\(what) that are denied.")))
    }

    static let schema = Schema.named(
        "SignInPolicy",
        .object(
            .optional(
                "require_second_factor",
                .object(
                    .optional("all", .boolean, "Whether all sign-ins need it."),
                    .optional("roles", names, "Roles of the accounts whose sign-ins need it."),
                    .optional("clients", names, "Clients whose sign-ins need it.")),
                "Sign-ins that need a passkey, or more than one factor."),
            .optional(
                "allow_methods",
                .list(of: .oneOf(PolicyReader.methods), 1...PolicyReader.methods.count),
                "Allowed sign-in methods."),
            .optional(
                "countries",
                choice(
                    "PolicyCountries",
                    .text(
                        2...2, .said("a country such as CH", .some(Characters("A-Z"), 2...2))),
                    "Countries"), "Countries of sign-ins."),
            .optional(
                "networks",
                choice("PolicyNetworks", .text(2...49), "Systems, addresses and ranges"),
                "Networks of sign-ins: autonomous systems (`AS64500`), IP addresses or "
                    + "ranges (`203.0.113.0/24`)."
            ),
            .optional(
                "hours",
                .object(
                    .optional(
                        "days", .list(of: .oneOf(PolicyReader.days), 1...7),
                        "Days of the week; every day by default."),
                    .required("from", time, "Time of day at which the hours begin."),
                    .required(
                        "to", time,
                        "Time of day at which the hours end; on the next day if it is earlier."),
                    .optional("offset", offset, "Offset of the clock from UTC.")),
                "Hours of sign-ins."),
            .optional(
                "devices",
                .object(
                    .required(
                        "known_for", duration,
                        "Time since the kind of device was first seen on the account.")),
                "Devices of sign-ins."),
            .optional("session_lifetime", duration, "Maximum lifetime of a session."),
            .optional(
                "idle_lifetime", duration, "Maximum time of a session without a token refresh."),
            .optional(
                "max_sessions", .integer(1...PolicyReader.mostSessions),
                "Maximum number of sessions of an account at once."),
            .optional(
                "lock_after",
                .object(
                    .required(
                        "n", .integer(1...PolicyReader.mostTries), "Number of failed attempts."),
                    .required(
                        "minutes", .integer(1...PolicyReader.mostMinutes),
                        "Time window of the attempts, in minutes.")),
                "Failed attempts after which an account is locked.")))
}
