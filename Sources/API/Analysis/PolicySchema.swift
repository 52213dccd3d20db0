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
                .optional("allow", values, "\(what) that are let in, and no others."),
                .optional("deny", values, "\(what) that are kept out.")))
    }

    static let schema = Schema.named(
        "SignInPolicy",
        .object(
            .optional(
                "require_second_factor",
                .object(
                    .optional("all", .boolean, "True: everybody's sign-ins."),
                    .optional("roles", names, "Those of accounts with one of these roles."),
                    .optional("clients", names, "Those through one of these clients.")),
                "Whose sign-ins need a passkey, or more than one factor."),
            .optional(
                "allow_methods",
                .list(of: .oneOf(PolicyReader.methods), 1...PolicyReader.methods.count),
                "How people may sign in."),
            .optional(
                "countries",
                choice(
                    "PolicyCountries",
                    .text(
                        2...2, .said("a country such as CH", .some(Characters("A-Z"), 2...2))),
                    "Countries"), "Where people may sign in from."),
            .optional(
                "networks",
                choice("PolicyNetworks", .text(2...49), "Systems, addresses and ranges"),
                "Which systems (`AS64500`), IP addresses or ranges (`203.0.113.0/24`) people may sign in from."
            ),
            .optional(
                "hours",
                .object(
                    .optional(
                        "days", .list(of: .oneOf(PolicyReader.days), 1...7),
                        "Days of the week; every day, if nothing is said."),
                    .required("from", time, "When they begin."),
                    .required("to", time, "When they end; on the day after, where it is earlier."),
                    .optional("offset", offset, "How far the clock is ahead of UTC.")),
                "When people may sign in."),
            .optional(
                "devices",
                .object(
                    .required(
                        "known_for", duration, "How long ago it was first seen on this account.")),
                "On which kinds of devices people may sign in."),
            .optional("session_lifetime", duration, "How long a session may be refreshed."),
            .optional("idle_lifetime", duration, "How long a session may go without a refresh."),
            .optional(
                "max_sessions", .integer(1...PolicyReader.mostSessions),
                "How many sessions an account may have at once."),
            .optional(
                "lock_after",
                .object(
                    .required("n", .integer(1...PolicyReader.mostTries), "So many wrong tries…"),
                    .required(
                        "minutes", .integer(1...PolicyReader.mostMinutes),
                        "… in so many minutes, and the account is locked.")),
                "When wrong tries lock an account.")))
}
