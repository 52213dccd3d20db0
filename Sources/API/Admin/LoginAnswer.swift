internal import JSON
internal import ReadModels
internal import Values

extension LoginView {
    static let schema = Schema.named(
        "Login",
        .object(
            .required("position", Fields.position, "Position of the event in the realm's log."),
            .required("at", Fields.time, "Time of the sign-in."),
            .optional("account", Fields.id, "Id of the account, if it is known."),
            .optional("app", Fields.id, "App of the sign-in."),
            .optional(
                "client", .text(1...255), "OAuth client id; left out for a sign-in at a page."),
            .optional("method", .text(1...255), "Grant type or sign-in method."),
            .required("outcome", .oneOf(["signed_in", "refused"]), "Outcome of the sign-in."),
            .optional("reason", .text(1...100), "Reason of the refusal."),
            .optional("session", Fields.id, "Session that the sign-in opened."),
            .optional("source", .text(1...100), "Pseudonym of the network."),
            .optional("device", .text(1...100), "Kind of device."),
            .optional(
                "country", .text(2...2),
                "Country of the network at the time of the sign-in (ISO 3166-1)."),
            .optional(
                "asn", .integer(0...Int64(UInt32.max)), "Autonomous system number of the network."),
            .optional("area", .text(7...7), "Square of one degree of the network."),
            .optional("channel", .text(1...20), "Channel of the code, if it was sent to a phone."),
            .optional(
                "ended_at", Fields.time,
                "Time at which the session was ended, if before its expiry."),
            .optional("end_reason", .text(1...100), "Reason for which the session was ended."),
            .optional("address", .text(0...300), "IP address, with `open`."),
            .optional("user_agent", .text(0...512), "User agent, with `open`."),
            .optional("city", .text(0...200), "City, with `open`."),
            .optional(
                "coordinates", .text(0...40), "Latitude and longitude in degrees, with `open`.")))

    static let example: JSON = [
        "position": 42, "at": "2026-11-21T01:23:45.123456Z",
        "account": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "client": "phone",
        "method": "urn:cocoar:otp", "outcome": "signed_in",
        "session": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15", "source": "q3Jx0a7bTn0y",
        "device": "iPhone", "country": "CH", "asn": 3303, "area": "N47E008",
    ]

    var members: JSONObject {
        var members: JSONObject = [
            "position": .integer(position), "at": .string(at.description),
            "outcome": isRefused ? "refused" : "signed_in",
        ]
        members["client"] = clientID.map { .string($0) }
        members["account"] = account.map { .string($0.description) }
        members["app"] = app.map { .string($0.description) }
        members["method"] = method.map { .string($0) }
        members["reason"] = reason.map { .string($0) }
        members["session"] = session.map { .string($0.description) }
        members["source"] = source.map { .string($0) }
        members["device"] = device.map { .string($0) }
        members["country"] = country.map { .string($0) }
        members["asn"] = asn.map { .integer($0) }
        members["area"] = area.map { .string($0) }
        members["channel"] = channel.map { .string($0) }
        members["ended_at"] = endedAt.map { .string($0.description) }
        members["end_reason"] = endReason.map { .string($0) }
        return members
    }
}
