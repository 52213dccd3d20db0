/// The name of a tenant: the unit of order, of keys and of every query.
///
/// It is a DNS label, so that it can stand in a host name, a key path and a position header
/// without escaping, and it never changes: what people see is the realm's display name.
public struct RealmID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let name: String

    public init?(_ name: String) {
        let bytes = Array(name.utf8)
        guard (1...63).contains(bytes.count), bytes.first != hyphen, bytes.last != hyphen,
            bytes.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == hyphen })
        else { return nil }
        self.name = name
    }

    private init(known name: String) {
        self.name = name
    }

    /// Where Urd keeps what belongs to no tenant: admin keys and the directory of hosts.
    public static let system = RealmID(known: "system")

    public var description: String { name }

    public static func < (left: RealmID, right: RealmID) -> Bool {
        left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }
}

private let hyphen: UInt8 = 45
