/// What takes the members of an object: each name once, in canonical order. Who describes an object to it describes
/// it once for those who want its bytes and for those who look into it.
public protocol Members {
    mutating func add(_ name: StaticString, _ value: JSON)
    mutating func add(_ name: StaticString, _ text: String)
    mutating func add(_ name: StaticString, _ number: Int64)
    /// Those of another object that are wanted.
    mutating func add(
        _ name: StaticString, _ object: JSONObject, where isWanted: (String) -> Bool)
}

extension Members {
    /// A nil value adds no member.
    public mutating func add(_ name: StaticString, _ text: String?) {
        if let text { add(name, text) }
    }
}

extension JSONObject: Members {
    public mutating func add(_ name: StaticString, _ value: JSON) {
        self[name.description] = value
    }

    public mutating func add(_ name: StaticString, _ text: String) {
        add(name, .string(text))
    }

    public mutating func add(_ name: StaticString, _ number: Int64) {
        add(name, .integer(number))
    }

    public mutating func add(
        _ name: StaticString, _ object: JSONObject, where isWanted: (String) -> Bool
    ) {
        add(name, .object(object.filter { isWanted($0.key) }))
    }
}

/// Members that are written as they come, without an object being made of them (RFC 8785).
public struct WrittenMembers: Members {
    private var bytes: [UInt8] = []
    private var isFirst = true

    private init() {}

    /// Writes an object behind these bytes.
    public static func write(
        into output: inout [UInt8], _ describe: (inout WrittenMembers) -> Void
    ) {
        var members = WrittenMembers()
        // Never held twice, and so never copied.
        swap(&members.bytes, &output)
        members.bytes.append(UInt8(ascii: "{"))
        describe(&members)
        members.bytes.append(UInt8(ascii: "}"))
        swap(&members.bytes, &output)
    }

    private mutating func begin(_ name: StaticString) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    public mutating func add(_ name: StaticString, _ value: JSON) {
        begin(name)
        value.write(into: &bytes)
    }

    public mutating func add(_ name: StaticString, _ text: String) {
        begin(name)
        bytes.append(quoting: text)
    }

    public mutating func add(_ name: StaticString, _ number: Int64) {
        begin(name)
        bytes.append(decimal: number)
    }

    public mutating func add(
        _ name: StaticString, _ object: JSONObject, where isWanted: (String) -> Bool
    ) {
        begin(name)
        object.write(into: &bytes, where: isWanted)
    }

    /// An object within this one.
    public mutating func add(_ name: StaticString, _ describe: (inout WrittenMembers) -> Void) {
        begin(name)
        Self.write(into: &bytes, describe)
    }
}
