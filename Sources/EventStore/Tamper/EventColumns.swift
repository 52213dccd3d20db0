import Cryptography
import EventSourcing
import JSON
import Laws
import Values

/// The columns of one event as they come over the wire, and the canonical record made of them
/// straight from the bytes: no strings, no values, one buffer for all events.
struct EventColumns {
    /// The selected columns, in the order of reading.
    static let selected = """
        position, at, command, data, meta, revision, sealed, stream, subject, type, version, leaf, mac
        """
    private static let count = 13

    let position: Int64
    let stream: UUID
    let version: Int32
    /// Nil where the column holds no hash.
    let leaf: TreeHash?
    let mac: UnsafeRawBufferPointer
    private let at: Int64
    private let revision: Int16
    private let command: UnsafeRawBufferPointer
    let data: UnsafeRawBufferPointer
    private let meta: UnsafeRawBufferPointer
    let sealed: UnsafeRawBufferPointer?
    private let streamBytes: UnsafeRawBufferPointer
    private let subject: UnsafeRawBufferPointer?
    /// Whose key its personal fields are sealed under.
    var subjectID: UUID? { subject.map { UUID(loading: $0) } }
    let type: UnsafeRawBufferPointer

    /// One row of a binary COPY. Nil where a column is missing, or has another type than it should.
    /// The buffer must outlive the value.
    init?(_ row: UnsafeRawBufferPointer) {
        var fields = CopyFields(row)
        guard fields.count == EventColumns.count,
            let position = fields.next(8), let at = fields.next(8), let command = fields.next(16),
            let data = fields.next(), let meta = fields.next(), let revision = fields.next(2),
            let sealed = fields.nextOrNull(), let stream = fields.next(16),
            let subject = fields.nextOrNull(), let type = fields.next(),
            let version = fields.next(4), let leaf = fields.nextOrNull(),
            let mac = fields.nextOrNull(), fields.isAtEnd,
            subject.bytes.map({ $0.count == 16 }) ?? true
        else { return nil }
        self.position = position.bigEndian(Int64.self)
        self.at = at.bigEndian(Int64.self) &+ postgresEpoch
        self.revision = revision.bigEndian(Int16.self)
        self.version = version.bigEndian(Int32.self)
        self.stream = UUID(loading: stream)
        self.leaf = leaf.bytes.flatMap {
            $0.count == TreeHash.length ? TreeHash(loading: $0) : nil
        }
        self.mac = mac.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0)
        self.command = command
        self.data = data
        self.meta = meta
        self.sealed = sealed.bytes
        streamBytes = stream
        self.subject = subject.bytes
        self.type = type
    }

    /// Whether the two JSON columns hold one whole object each. If they did not, two different rows
    /// could have the same record: the end of the one would be taken for the start of the other.
    var hasWholeObjects: Bool { data.isOneObject && meta.isOneObject }

    /// The event as the laws of the log take it.
    var logged: LoggedEvent {
        LoggedEvent(
            position: position, at: at, command: UUID(loading: command), stream: stream,
            subject: subjectID, isSealed: sealed != nil, type: type, version: version, data: data,
            meta: meta)
    }

    /// The record, with the mark of a leaf before it.
    func writeRecord(realm: [UInt8], into record: inout RecordBuffer) {
        record.start(
            room: 512 + data.count + meta.count + 6 * type.count + realm.count)
        record.write(#"{"at":"#)
        record.write(decimal: at)
        record.write(#","command":""#)
        record.write(uuid: command)
        record.write(#"","data":"#)
        record.write(data)
        record.write(#","meta":"#)
        record.write(meta)
        record.write(#","realm":""#)
        realm.withUnsafeBytes { record.write($0) }
        record.write(#"","revision":"#)
        record.write(decimal: Int64(revision))
        if let sealed {
            record.write(#","sealed":""#)
            record.write(digestOf: sealed)
            record.write("\"")
        }
        record.write(#","stream":""#)
        record.write(uuid: streamBytes)
        if let subject {
            record.write(#"","subject":""#)
            record.write(uuid: subject)
        }
        record.write(#"","type":"#)
        record.write(quoting: type)
        record.write(#","version":"#)
        record.write(decimal: Int64(version))
        record.write("}")
    }
}

extension UUID {
    /// Of the sixteen bytes of a column.
    fileprivate init(loading bytes: UnsafeRawBufferPointer) {
        self.init(
            high: UnsafeRawBufferPointer(rebasing: bytes[..<8]).bigEndian(UInt64.self),
            low: UnsafeRawBufferPointer(rebasing: bytes[8...]).bigEndian(UInt64.self))
    }
}

/// PostgreSQL counts from 2000.
private let postgresEpoch: Int64 = 946_684_800_000_000

/// The fields of a row of a binary COPY; nothing outside of the row is ever read.
struct CopyFields {
    struct Nullable {
        let bytes: UnsafeRawBufferPointer?
    }

    let count: Int
    private var rest: UnsafeRawBufferPointer

    init(_ row: UnsafeRawBufferPointer) {
        count = row.count >= 2 ? Int(row.bigEndian(Int16.self)) : -1
        rest = UnsafeRawBufferPointer(rebasing: row.dropFirst(2))
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func nextOrNull() -> Nullable? {
        guard rest.count >= 4 else { return nil }
        let length = Int(rest.bigEndian(Int32.self))
        guard length >= 0 else {
            rest = UnsafeRawBufferPointer(rebasing: rest[4...])
            return length == -1 ? Nullable(bytes: nil) : nil
        }
        guard rest.count - 4 >= length else { return nil }
        let field = UnsafeRawBufferPointer(rebasing: rest[4..<4 + length])
        rest = UnsafeRawBufferPointer(rebasing: rest[(4 + length)...])
        return Nullable(bytes: field)
    }

    mutating func next() -> UnsafeRawBufferPointer? {
        nextOrNull()?.bytes
    }

    mutating func next(_ length: Int) -> UnsafeRawBufferPointer? {
        guard let field = nextOrNull()?.bytes, field.count == length else { return nil }
        return field
    }
}

extension UnsafeRawBufferPointer {
    /// The first bytes as a number.
    func bigEndian<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type) -> Number {
        Number(bigEndian: loadUnaligned(as: type))
    }

    /// Whether this is text that begins with a brace whose partner is its last byte. It is valid
    /// JSON otherwise: the database saw to that.
    var isOneObject: Bool {
        guard count >= 2, self[0] == UInt8(ascii: "{") else { return false }
        var depth = 0
        var index = 0
        while index < count {
            switch self[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth <= 0 { return depth == 0 && index == count - 1 }
            case UInt8(ascii: "\""):
                index += 1
                while index < count, self[index] != UInt8(ascii: "\"") {
                    index += self[index] == UInt8(ascii: "\\") ? 2 : 1
                }
            default: break
            }
            index += 1
        }
        return false
    }
}
