internal import JSON
internal import Values

/// Where a list goes on. Clients pass it back as they got it; every text that fits the schema is a
/// place in the list, so that none can be refused later than by its schema.
enum Cursor {
    /// For lists in the order of an id: its 16 bytes.
    static let uuid = Schema.text(
        22...22,
        .sequence([.some(Characters("-a-zA-Z0-9_"), 21...21), .one(Characters("AQgw"))]))

    /// For lists in the order of a name: its bytes in hex, which are printable ASCII.
    static let name = Schema.text(
        2...510,
        .times(
            .sequence([.one(Characters("2-7")), .one(Characters("0-9a-f"))]), 1...255))

    /// For lists in the order of the log: a position of up to 48 bits.
    static let position = Schema.text(8...8, .some(Characters("-a-zA-Z0-9_"), 8...8))

    static func encode(_ id: UUID) -> String { Base64URL.encode(id.bytes) }

    static func encode(name: String) -> String { Hex.encode(Array(name.utf8)) }

    static func encode(position: Int64) -> String {
        let bits = UInt64(max(0, position))
        return Base64URL.encode(
            (0..<6).map { UInt8(truncatingIfNeeded: bits >> (40 - 8 * UInt64($0))) })
    }

    static func uuid(_ text: String) -> UUID? {
        Base64URL.decode(text).flatMap { UUID(bytes: $0) }
    }

    static func name(_ text: String) -> String? {
        Hex.decode(text).map { String(decoding: $0, as: UTF8.self) }
    }

    static func position(_ text: String) -> Int64? {
        Base64URL.decode(text).map { $0.reduce(0) { $0 << 8 | Int64($1) } }
    }
}

/// The order of a list's items, by which its cursors are made.
struct ListOrder<Item, Key: Sendable>: Sendable {
    let schema: Schema
    /// The key that a cursor stands for; the list goes on behind it.
    let key: @Sendable (String) -> Key?
    let cursor: @Sendable (Item) -> String
}

extension ListOrder where Key == UUID {
    static func id(_ id: @escaping @Sendable (Item) -> UUID) -> Self {
        Self(schema: Cursor.uuid, key: { Cursor.uuid($0) }, cursor: { Cursor.encode(id($0)) })
    }
}

extension ListOrder where Key == String {
    static func name(_ name: @escaping @Sendable (Item) -> String) -> Self {
        Self(
            schema: Cursor.name, key: { Cursor.name($0) },
            cursor: { Cursor.encode(name: name($0)) })
    }
}

extension ListOrder where Key == Int64 {
    static func position(_ position: @escaping @Sendable (Item) -> Int64) -> Self {
        Self(
            schema: Cursor.position, key: { Cursor.position($0) },
            cursor: { Cursor.encode(position: position($0)) })
    }
}
