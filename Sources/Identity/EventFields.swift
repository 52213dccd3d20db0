internal import JSON
internal import Values

/// The fields of events, read with the type that they were written with.
extension JSONObject {
    func uuid(_ name: String) -> UUID? { self[name]?.string.flatMap { UUID($0) } }

    func digest(_ name: String) -> SecretDigest? {
        self[name]?.string.flatMap(SecretDigest.init(base64URL:))
    }

    func instant(_ name: String) -> Timestamp? {
        self[name]?.integer.map { Timestamp(seconds: $0) }
    }

    /// Nil where it is there and no list of texts.
    func texts(_ name: String) -> [String]? {
        guard let value = self[name] else { return [] }
        guard let values = value.array else { return nil }
        let texts = values.compactMap(\.string)
        return texts.count == values.count ? texts : nil
    }

    /// Nil where it is there and no list of identifiers.
    func uuids(_ name: String) -> [UUID]? {
        guard let values = texts(name) else { return nil }
        let ids = values.compactMap { UUID($0) }
        return ids.count == values.count ? ids : nil
    }

    /// What sessions and such carry of their account's stamp.
    var stamp: SecurityStamp? {
        self["stamp"]?.integer.map {
            SecurityStamp(
                number: Int(clamping: $0), moves: Int(clamping: self["moves"]?.integer ?? 0),
                removals: Int(clamping: self["removals"]?.integer ?? 0))
        }
    }

    mutating func setStamp(_ stamp: SecurityStamp) {
        self["stamp"] = .integer(Int64(stamp.number))
        self["moves"] = stamp.moves == 0 ? nil : .integer(Int64(stamp.moves))
        self["removals"] = stamp.removals == 0 ? nil : .integer(Int64(stamp.removals))
    }

    func choice<Choice: RawRepresentable<String>>(_ name: String) -> Choice? {
        self[name]?.string.flatMap(Choice.init(rawValue:))
    }
}

extension JSON {
    static func uuid(_ id: UUID) -> JSON { .string(id.description) }

    static func texts(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}
