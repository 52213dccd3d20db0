internal import JSON
internal import ReadModels
internal import Values

extension LoginView {
    static let shape = Shape<LoginView>(
        "Login",
        .required(
            "position", Fields.position, "Position of the event in the realm's log.", \.position,
            example: 42),
        .required("at", "Time of the sign-in.", \.at),
        .optional(
            "account", "Id of the account, if it is known.", \.account, example: UUID.example),
        .optional("app", "App of the sign-in.", \.app),
        .optional(
            "client", .text(1...255), "OAuth client id; left out for a sign-in at a page.",
            \.clientID, example: "phone"),
        .optional(
            "method", .text(1...255), "Grant type or sign-in method.", \.method,
            example: "urn:cocoar:otp"),
        .required(
            "outcome", .oneOf(["signed_in", "refused"]), "Outcome of the sign-in.",
            { $0.isRefused ? "refused" : "signed_in" }, example: "signed_in"),
        .optional("reason", .text(1...100), "Reason of the refusal.", \.reason),
        .optional(
            "session", "Session that the sign-in opened.", \.session,
            example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15"),
        .optional(
            "source", .text(1...100), "Pseudonym of the network.", \.source, example: "q3Jx0a7bTn0y"
        ),
        .optional("device", .text(1...100), "Kind of device.", \.device, example: "iPhone"),
        .optional(
            "country", .text(2...2),
            "Country of the network at the time of the sign-in (ISO 3166-1).", \.country,
            example: "CH"),
        .optional(
            "asn", .integer(0...Int64(UInt32.max)), "Autonomous system number of the network.",
            \.asn, example: 3303),
        .optional(
            "area", .text(7...7), "Square of one degree of the network.", \.area, example: "N47E008"
        ),
        .optional(
            "channel", .text(1...20), "Channel of the code, if it was sent to a phone.", \.channel),
        .optional(
            "ended_at", "Time at which the session was ended, if before its expiry.", \.endedAt),
        .optional(
            "end_reason", .text(1...100), "Reason for which the session was ended.", \.endReason),
        .added(.optional("address", .text(0...300), "IP address, with `open`.")),
        .added(.optional("user_agent", .text(0...512), "User agent, with `open`.")),
        .added(.optional("city", .text(0...200), "City, with `open`.")),
        .added(
            .optional(
                "coordinates", .text(0...40), "Latitude and longitude in degrees, with `open`.")))
}
