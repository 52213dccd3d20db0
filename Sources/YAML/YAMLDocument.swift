public import JSON

/// A configuration as a person writes it, read as the JSON that it stands for, and the line of each value.
///
/// Of YAML 1.2 it takes what JSON has another spelling for: maps, lists and scalars by the core schema. JSON is
/// YAML, so that both are read the same way. What makes a value mean something else than is written there, such as anchors, tags and
/// merge keys, is refused, as is a name that stands twice.
public struct YAMLDocument: Sendable {
    public static let mostBytes = 4 << 20
    static let mostDepth = 32
    static let mostValues = 50_000

    public let value: JSON
    /// By the names on the way, with slashes between them.
    private let lines: [String: Int]

    public init(_ bytes: [UInt8]) throws(YAMLError) {
        guard bytes.count <= Self.mostBytes else {
            throw YAMLError(0, "the file is longer than \(Self.mostBytes >> 20) MiB")
        }
        var builder = Builder(reader: try EventReader(SurrogatePairs.joined(in: bytes)))
        value = try builder.document()
        lines = builder.lines
    }

    public func has(_ path: String) -> Bool { lines[path] != nil }

    /// The line of the value at a path, or of the nearest one around it.
    public func line(of path: String) -> Int {
        var path = path[...]
        while true {
            if let line = lines[String(path)] { return line }
            guard let slash = path.lastIndex(of: "/") else { return lines[""] ?? 1 }
            path = path[..<slash]
        }
    }
}

/// Makes a value of events.
private struct Builder {
    let reader: EventReader
    var lines: [String: Int] = [:]
    private var count = 0

    init(reader: EventReader) {
        self.reader = reader
    }

    mutating func document() throws(YAMLError) -> JSON {
        _ = try reader.next()
        let first = try reader.next()
        guard case .documentStart = first.event else { throw YAMLError(1, "the file is empty") }
        let (event, line) = try reader.next()
        let value = try value(event, line, path: "", depth: 1)
        _ = try reader.next()
        let next = try reader.next()
        guard case .end = next.event else {
            throw YAMLError(next.line, "a second document begins (---): a file has one")
        }
        return value
    }

    private mutating func value(
        _ event: EventReader.Event, _ line: Int, path: String, depth: Int
    ) throws(YAMLError) -> JSON {
        if lines[path] == nil { lines[path] = line }
        guard depth <= YAMLDocument.mostDepth else {
            throw YAMLError(line, "it is nested more than \(YAMLDocument.mostDepth) deep")
        }
        count += 1
        guard count <= YAMLDocument.mostValues else {
            throw YAMLError(line, "the file has more than \(YAMLDocument.mostValues) values")
        }
        switch event {
        case .scalar(let text, let isPlain):
            return isPlain ? try PlainScalar.value(text, line) : .string(try checked(text, line))
        case .listStart: return try list(path: path, depth: depth)
        case .mapStart: return try map(path: path, depth: depth)
        case .start, .end, .documentStart, .documentEnd, .listEnd, .mapEnd:
            throw YAMLError(line, "this is no YAML that is read here")
        }
    }

    private func checked(_ text: String, _ line: Int) throws(YAMLError) -> String {
        if text.utf8.contains(0) { throw YAMLError(line, "a text has a null character") }
        return text
    }

    private mutating func list(path: String, depth: Int) throws(YAMLError) -> JSON {
        var elements: [JSON] = []
        while true {
            let (event, line) = try reader.next()
            if case .listEnd = event { return .array(elements) }
            elements.append(
                try value(event, line, path: join(path, "\(elements.count)"), depth: depth + 1))
        }
    }

    private mutating func map(path: String, depth: Int) throws(YAMLError) -> JSON {
        var members: JSONObject = [:]
        while true {
            let (event, line) = try reader.next()
            if case .mapEnd = event { return .object(members) }
            guard case .scalar(let name, _) = event else {
                throw YAMLError(line, "a name must be a text")
            }
            if name == "<<" {
                throw YAMLError(line, "a merge key (<<) is not read here: write the members out")
            }
            if members[try checked(name, line)] != nil {
                throw YAMLError(line, "`\(shown(name))` stands here a second time")
            }
            let place = join(path, name)
            lines[place] = line
            let (inner, innerLine) = try reader.next()
            members[name] = try value(inner, innerLine, path: place, depth: depth + 1)
        }
    }

    private func join(_ path: String, _ name: String) -> String {
        path.isEmpty ? name : "\(path)/\(name)"
    }

    private func shown(_ name: String) -> String {
        name.utf8.count > 100 ? String(name.unicodeScalars.prefix(100)) + "…" : name
    }
}
