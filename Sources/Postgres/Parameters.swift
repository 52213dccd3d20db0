/// What is bound to a statement, in PostgreSQL's binary form.
public struct Parameters: Sendable {
    struct Slot {
        let offset: Int
        let length: Int
    }

    private(set) var bytes: [UInt8] = []
    private(set) var slots: [Slot?] = []
    private(set) var types: [UInt32] = []

    public init() {}

    public mutating func add(_ value: Bool?) {
        add(.bool, value) { $0.append($1 ? 1 : 0) }
    }

    public mutating func add(_ value: Int16?) {
        add(.int2, value) { $0.appendBigEndian($1) }
    }

    public mutating func add(_ value: Int32?) {
        add(.int4, value) { $0.appendBigEndian($1) }
    }

    public mutating func add(_ value: Int64?) {
        add(.int8, value) { $0.appendBigEndian($1) }
    }

    public mutating func add(_ value: String?) {
        add(.text, value) { $0.append(contentsOf: $1.utf8) }
    }

    public mutating func add(bytes value: [UInt8]?) {
        add(.bytea, value) { $0.append(contentsOf: $1) }
    }

    public mutating func add(json value: [UInt8]?) {
        add(.json, value) { $0.append(contentsOf: $1) }
    }

    public mutating func add(uuid value: (high: UInt64, low: UInt64)?) {
        add(.uuid, value) {
            $0.appendBigEndian($1.high)
            $0.appendBigEndian($1.low)
        }
    }

    /// Microseconds since 1970.
    public mutating func add(time value: Int64?) {
        add(.timestamptz, value) { $0.appendBigEndian(sincePostgresEpoch($1)) }
    }

    public mutating func add(_ array: ArrayParameter) {
        let offset = bytes.count
        array.write(into: &bytes)
        slots.append(Slot(offset: offset, length: bytes.count - offset))
        types.append(array.type.array)
    }

    public mutating func add(_ arrays: [ArrayParameter]) {
        for array in arrays { add(array) }
    }

    /// Null in the place of an array without elements: for functions to which that is the same, and costs less.
    public mutating func add(nullIfEmpty arrays: [ArrayParameter]) {
        for array in arrays {
            guard array.isEmpty else {
                add(array)
                continue
            }
            slots.append(nil)
            types.append(array.type.array)
        }
    }

    private mutating func add<Value>(
        _ type: ColumnType, _ value: Value?, _ write: (inout [UInt8], Value) -> Void
    ) {
        types.append(type.rawValue)
        guard let value else { return slots.append(nil) }
        let offset = bytes.count
        write(&bytes, value)
        slots.append(Slot(offset: offset, length: bytes.count - offset))
    }
}

/// One array, filled element by element.
public struct ArrayParameter: Sendable {
    let type: ColumnType
    private var elements: [UInt8] = []
    private var count: Int32 = 0
    private var hasNull = false

    public init(of type: ColumnType) {
        self.type = type
    }

    var isEmpty: Bool { count == 0 }

    public mutating func append(_ value: Bool) {
        begin(1)
        elements.append(value ? 1 : 0)
    }

    public mutating func append(_ value: Int16) {
        begin(2)
        elements.appendBigEndian(value)
    }

    public mutating func append(_ value: Int32) {
        begin(4)
        elements.appendBigEndian(value)
    }

    public mutating func append(_ value: Int64) {
        begin(8)
        elements.appendBigEndian(value)
    }

    public mutating func append(_ value: String) {
        begin(value.utf8.count)
        elements.append(contentsOf: value.utf8)
    }

    public mutating func append(bytes value: [UInt8]) {
        begin(value.count)
        elements.append(contentsOf: value)
    }

    public mutating func append(uuid value: (high: UInt64, low: UInt64)) {
        begin(16)
        elements.appendBigEndian(value.high)
        elements.appendBigEndian(value.low)
    }

    /// Microseconds since 1970.
    public mutating func append(time value: Int64) {
        begin(8)
        elements.appendBigEndian(sincePostgresEpoch(value))
    }

    public mutating func appendNull() {
        elements.appendBigEndian(Int32(-1))
        count += 1
        hasNull = true
    }

    private mutating func begin(_ length: Int) {
        // Where there is one there are many: see the batches of `append_all`.
        if elements.capacity == 0 { elements.reserveCapacity(24 * (length + 4)) }
        elements.appendBigEndian(Int32(length))
        count += 1
    }

    func write(into bytes: inout [UInt8]) {
        bytes.appendBigEndian(Int32(count == 0 ? 0 : 1))
        bytes.appendBigEndian(Int32(hasNull ? 1 : 0))
        bytes.appendBigEndian(type.rawValue)
        guard count > 0 else { return }
        bytes.appendBigEndian(count)
        bytes.appendBigEndian(Int32(1))
        bytes.append(contentsOf: elements)
    }
}

/// The types that cross the wire, by their catalogue number.
public enum ColumnType: UInt32, Sendable {
    case bool = 16
    case bytea = 17
    case int8 = 20
    case int2 = 21
    case int4 = 23
    case text = 25
    case json = 114
    case timestamptz = 1184
    case uuid = 2950

    var array: UInt32 {
        switch self {
        case .bool: 1000
        case .bytea: 1001
        case .int8: 1016
        case .int2: 1005
        case .int4: 1007
        case .text: 1009
        case .json: 199
        case .timestamptz: 1185
        case .uuid: 2951
        }
    }
}

/// PostgreSQL counts from 2000.
let postgresEpoch: Int64 = 946_684_800_000_000

/// A time before all counting becomes one that the server refuses, not one that it mistakes for
/// the far future or for its own minus infinity.
private func sincePostgresEpoch(_ time: Int64) -> Int64 {
    let (shifted, isTooEarly) = time.subtractingReportingOverflow(postgresEpoch)
    return isTooEarly || shifted == .min ? .min + 1 : shifted
}

extension [UInt8] {
    mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
    }
}
