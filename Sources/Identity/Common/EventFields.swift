internal import JSON
internal import Values

/// The fields of events, read with the type that they were written with.
extension JSONObject {
    func uuid(_ name: String) -> UUID? { self[name]?.string.flatMap { UUID($0) } }

    func instant(_ name: String) -> Timestamp? {
        self[name]?.integer.map { Timestamp(seconds: $0) }
    }

    /// Nil where the field is there and is no list of texts.
    func texts(_ name: String) -> [String]? {
        guard let value = self[name] else { return [] }
        guard let values = value.array else { return nil }
        let texts = values.compactMap(\.string)
        return texts.count == values.count ? texts : nil
    }

    func choice<Choice: RawRepresentable<String>>(_ name: String) -> Choice? {
        self[name]?.string.flatMap(Choice.init(rawValue:))
    }
}

extension JSON {
    static func uuid(_ id: UUID) -> JSON { .string(id.description) }

    static func texts(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}
