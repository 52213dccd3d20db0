internal import JSON

extension JSONObject {
    /// Nil removes the claim of that name.
    mutating func set(_ name: ClaimName, _ value: JSON?) { self[name.rawValue] = value }
}

extension JSON {
    /// One reader as text, since many readers of tokens know no other form.
    static func audience(_ readers: [String]) -> JSON {
        if readers.count == 1, let reader = readers.first { return .string(reader) }
        return .array(readers.map { .string($0) })
    }
}

extension JSON? {
    /// Nil when there is none: an empty list would claim that something was looked for.
    static func texts(_ texts: [String]) -> JSON? {
        texts.isEmpty ? nil : .some(.array(texts.map { .string($0) }))
    }
}
