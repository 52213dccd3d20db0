internal import JSON

/// Members and parameters that several resources share.
enum Fields {
    static let id = Schema.text(36...36, Names.uuid, format: "uuid")
    static let time = Schema.text(TextRule(20...32, format: "date-time"))
    static let position = Schema.integer(1...281_474_976_710_655)
    static let realm = Schema.text(1...63, Names.label)
}

extension Parameter {
    static let realm = Parameter(
        "realm", in: .path, Fields.realm, "Realm name.", example: "demo")

    static let position = Parameter(
        "position", in: .path, Fields.position, "Position in the realm's log.", example: 42)

    static let minimumPosition = Parameter(
        "min_position", in: .query, LogPosition.schema,
        "The `Urd-Position` of a write that the list must contain; the request "
            + "waits for it a while.")

    static let idempotencyKey = Parameter(
        "Idempotency-Key", in: .header,
        .text(1...255, .some(Characters(0x21...0x7E), 1...255)),
        "Key chosen by the client. The same request with the same key gets the "
            + "same response again and has no further effect; another request with it "
            + "is refused.")
}

extension Call {
    func requiredInteger(_ name: String) throws(Problem) -> Int64 {
        guard let number = integer(name) else { throw Problem(.internalError) }
        return number
    }
}
