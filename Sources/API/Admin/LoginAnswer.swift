internal import JSON
internal import ReadModels
internal import Values

extension LoginView {
    static let schema = Schema.named(
        "Login",
        .object(
            .required("position", Fields.position, "Where it stands in the realm's log."),
            .required("at", Fields.time, "When it was."),
            .optional("account", Fields.id, "Whose account, where that is known."),
            .optional("app", Fields.id, "Through which app."),
            .optional("client", .text(1...255), "Through which client; none: on a page."),
            .optional("method", .text(1...255), "The grant, or the way, that was tried."),
            .required("outcome", .oneOf(["signed_in", "refused"]), "How it went."),
            .optional("reason", .text(1...100), "Why it was refused."),
            .optional("session", Fields.id, "The session that came of it."),
            .optional("source", .text(1...100), "Where from, as a pseudonym of the network."),
            .optional("device", .text(1...100), "The kind of device."),
            .optional("country", .text(2...2), "Country of the network, as it was looked up then."),
            .optional("asn", .integer(0...Int64(UInt32.max)), "Its autonomous system."),
            .optional("area", .text(7...7), "The square of one degree that it is in."),
            .optional("channel", .text(1...20), "By what a code came, if to a phone."),
            .optional("ended_at", Fields.time, "When the session ended before its time."),
            .optional("end_reason", .text(1...100), "Why it did."),
            .optional("address", .text(0...300), "With `open`: the address."),
            .optional("user_agent", .text(0...512), "With `open`: the user agent."),
            .optional("city", .text(0...200), "With `open`: the city."),
            .optional(
                "coordinates", .text(0...40), "With `open`: latitude and longitude in degrees.")))

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
