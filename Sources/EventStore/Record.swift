public import Cryptography
import EventSourcing
import JSON
public import Values

/// The canonical record of an event: what is hashed into the tree. A verifier that knows nothing
/// of Urd can build the same bytes from the columns of `urd.event`.
///
/// RFC 8785 over `at` (microseconds since 1970), `command`, `data`, `meta`, `realm`, `revision`,
/// `sealed` (base64url of the SHA-256 of the sealed bytes; left out when there are none), `stream`,
/// `subject` (left out when there is none), `type`, `version`. The sealed bytes themselves may be
/// dropped one day without breaking the tree.
public struct Record: Sendable {
    public var at: Timestamp
    public var command: UUID
    public var data: [UInt8]
    public var meta: [UInt8]
    public var realm: String
    public var revision: Int
    public var sealed: [UInt8]?
    public var stream: UUID
    public var subject: UUID?
    public var type: String
    public var version: Int

    public init(
        at: Timestamp, command: UUID, data: [UInt8], meta: [UInt8], realm: String, revision: Int,
        sealed: [UInt8]?, stream: UUID, subject: UUID?, type: String, version: Int
    ) {
        self.at = at
        self.command = command
        self.data = data
        self.meta = meta
        self.realm = realm
        self.revision = revision
        self.sealed = sealed
        self.stream = stream
        self.subject = subject
        self.type = type
        self.version = version
    }

    /// The members in canonical order. Names, types and realms need no escape: they are ASCII
    /// identifiers by construction.
    public var bytes: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(data.count + meta.count + 400)
        out.append(text: #"{"at":"#)
        JSON.integer(at.microseconds).write(into: &out)
        out.append(text: #","command":""#)
        out.append(uuid: command)
        out.append(text: #"","data":"#)
        out.append(contentsOf: data)
        out.append(text: #","meta":"#)
        out.append(contentsOf: meta)
        out.append(text: #","realm":""#)
        out.append(contentsOf: realm.utf8)
        out.append(text: #"","revision":"#)
        JSON.integer(Int64(revision)).write(into: &out)
        if let sealed {
            out.append(text: #","sealed":""#)
            out.append(contentsOf: Base64URL.encode(SHA256.hash(sealed)).utf8)
            out.append(text: "\"")
        }
        out.append(text: #","stream":""#)
        out.append(uuid: stream)
        if let subject {
            out.append(text: #"","subject":""#)
            out.append(uuid: subject)
        }
        out.append(text: #"","type":""#)
        out.append(contentsOf: type.utf8)
        out.append(text: #"","version":"#)
        JSON.integer(Int64(version)).write(into: &out)
        out.append(text: "}")
        return out
    }

    /// The leaf of the tree: RFC 6962's hash of the record.
    public var leaf: [UInt8] {
        SHA256.hash([[0], bytes])
    }

    /// Shows that the application wrote the leaf. Half a digest is enough to forge nothing.
    public static func mac(_ leaf: [UInt8], under key: HMACKey) -> [UInt8] {
        Array(key.authenticate(leaf).prefix(macLength))
    }

    public static let macLength = 16
}

extension [UInt8] {
    mutating func append(text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }

    mutating func append(uuid: UUID) {
        append(hexadecimal: uuid.high >> 32, digits: 8)
        append(45)
        append(hexadecimal: uuid.high >> 16, digits: 4)
        append(45)
        append(hexadecimal: uuid.high, digits: 4)
        append(45)
        append(hexadecimal: uuid.low >> 48, digits: 4)
        append(45)
        append(hexadecimal: uuid.low, digits: 12)
    }

    private mutating func append(hexadecimal value: UInt64, digits: Int) {
        var shift = digits * 4
        while shift > 0 {
            shift -= 4
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(shift)) & 0xF
            append(digit < 10 ? 48 + digit : 87 + digit)
        }
    }
}
