/// A CBOR item (RFC 8949), as far as authenticators write it.
enum CBOR: Hashable {
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
    case array([CBOR])
    case map([Key: CBOR])
    case bool(Bool)
    case null
    /// Only extensions hold some, and Urd reads none of them.
    case float

    enum Key: Hashable {
        case integer(Int64)
        case text(String)
    }

    subscript(_ name: String) -> CBOR? {
        guard case .map(let members) = self else { return nil }
        return members[.text(name)]
    }

    subscript(_ label: Int64) -> CBOR? {
        guard case .map(let members) = self else { return nil }
        return members[.integer(label)]
    }

    var bytes: [UInt8]? {
        guard case .bytes(let bytes) = self else { return nil }
        return bytes
    }

    var integer: Int64? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    var isMap: Bool {
        guard case .map = self else { return false }
        return true
    }
}
