internal import CPostgres

/// The rows of one result, in binary form. Owns the result and frees it once.
@safe public final class Rows {
    private let result: OpaquePointer
    private let nulls: NullReads

    init(owning result: OpaquePointer, nulls: NullReads) {
        unsafe self.result = result
        self.nulls = nulls
    }

    deinit {
        unsafe PQclear(result)
    }

    public var count: Int { unsafe Int(PQntuples(result)) }
    public var isEmpty: Bool { count == 0 }
    public var width: Int { unsafe Int(PQnfields(result)) }

    /// Rows that a statement without a result changed.
    public var changed: Int {
        guard let text = unsafe PQcmdTuples(result) else { return 0 }
        return unsafe Int(String(cString: text)) ?? 0
    }

    public func isNull(_ row: Int, _ column: Int) -> Bool {
        check(row, column)
        return unsafe PQgetisnull(result, Int32(row), Int32(column)) == 1
    }

    public func bytes(_ row: Int, _ column: Int) -> [UInt8] {
        unsafe withField(row, column) { unsafe [UInt8]($0) }
    }

    public func text(_ row: Int, _ column: Int) -> String {
        unsafe withField(row, column) { unsafe String(decoding: $0, as: UTF8.self) }
    }

    public func bool(_ row: Int, _ column: Int) -> Bool {
        unsafe withField(row, column) { unsafe $0.first == 1 }
    }

    public func int16(_ row: Int, _ column: Int) -> Int16 {
        Int16(truncatingIfNeeded: bigEndian(row, column, 2))
    }

    public func int32(_ row: Int, _ column: Int) -> Int32 {
        Int32(truncatingIfNeeded: bigEndian(row, column, 4))
    }

    public func int64(_ row: Int, _ column: Int) -> Int64 {
        Int64(bitPattern: bigEndian(row, column, 8))
    }

    /// Microseconds since 1970.
    public func time(_ row: Int, _ column: Int) -> Int64 {
        int64(row, column) &+ postgresEpoch
    }

    public func uuid(_ row: Int, _ column: Int) -> (high: UInt64, low: UInt64) {
        unsafe withField(row, column) { field in
            guard field.count == 16 else {
                noteNull(row, column)
                return (0, 0)
            }
            return unsafe (
                field[0..<8].reduce(0) { $0 << 8 | UInt64($1) },
                field[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
            )
        }
    }

    /// The elements of a one-dimensional array, in binary form; null elements are nil.
    public func array(_ row: Int, _ column: Int) -> [[UInt8]?] {
        unsafe withField(row, column) { unsafe arrayElements($0) }
    }

    /// The members of a row that is one value, as numbers. They are not null.
    public func record(_ row: Int, _ column: Int) -> [Int64] {
        unsafe withField(row, column) { unsafe recordMembers($0) }
    }

    private func bigEndian(_ row: Int, _ column: Int, _ width: Int) -> UInt64 {
        unsafe withField(row, column) { field in
            guard field.count == width else {
                noteNull(row, column)
                return 0
            }
            return unsafe field.reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// A number or an id has no value that could stand for none.
    private func noteNull(_ row: Int, _ column: Int) {
        precondition(isNull(row, column), "A column must be read as its own type.")
        let name = unsafe PQfname(result, Int32(column)).map { unsafe String(cString: $0) }
        nulls.note(name ?? "?")
    }

    private func check(_ row: Int, _ column: Int) {
        precondition(row >= 0 && row < count, "A row must be inside its result.")
        unsafe precondition(
            column >= 0 && column < Int(PQnfields(result)), "A column must be inside its result.")
    }

    /// The bytes of one field, valid inside the closure only. Null is empty.
    public func withField<Value>(
        _ row: Int, _ column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Value
    ) -> Value {
        check(row, column)
        let length = unsafe Int(PQgetlength(result, Int32(row), Int32(column)))
        guard let start = unsafe PQgetvalue(result, Int32(row), Int32(column)) else {
            return unsafe body(UnsafeBufferPointer(start: nil, count: 0))
        }
        return unsafe start.withMemoryRebound(to: UInt8.self, capacity: length) {
            unsafe body(UnsafeBufferPointer(start: $0, count: length))
        }
    }
}

func arrayElements(_ field: UnsafeBufferPointer<UInt8>) -> [[UInt8]?] {
    var reader = unsafe BigEndianReader(field)
    guard reader.int32() == 1 else { return [] }
    _ = reader.int32()
    _ = reader.int32()
    let count = reader.int32()
    _ = reader.int32()
    return (0..<max(0, count)).map { _ in
        let length = reader.int32()
        return length < 0 ? nil : reader.bytes(Int(length))
    }
}

func recordMembers(_ field: UnsafeBufferPointer<UInt8>) -> [Int64] {
    var reader = unsafe BigEndianReader(field)
    return (0..<max(0, reader.int32())).map { _ in
        _ = reader.int32()
        return reader.integer(Int(reader.int32()))
    }
}

/// Reads numbers off the wire; past the end it reads zeros rather than other memory.
@safe struct BigEndianReader {
    private let buffer: UnsafeBufferPointer<UInt8>
    private(set) var offset = 0

    init(_ buffer: UnsafeBufferPointer<UInt8>) {
        unsafe self.buffer = unsafe buffer
    }

    mutating func int32() -> Int32 {
        guard unsafe buffer.count - offset >= 4 else { return 0 }
        defer { offset += 4 }
        return unsafe buffer[offset..<offset + 4].reduce(0) { $0 << 8 | Int32($1) }
    }

    /// Of two, four or eight bytes.
    mutating func integer(_ width: Int) -> Int64 {
        guard width > 0, unsafe buffer.count - offset >= width else { return 0 }
        defer { offset += width }
        let bytes = unsafe buffer[offset..<offset + width]
        let sign: Int64 = unsafe bytes.first.map { $0 >= 0x80 } == true ? -1 : 0
        return unsafe bytes.reduce(sign) { $0 << 8 | Int64($1) }
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        guard count >= 0, unsafe buffer.count - offset >= count else { return [] }
        defer { offset += count }
        return unsafe [UInt8](buffer[offset..<offset + count])
    }
}
