public import JSON
public import Values

/// Structured log lines: one JSON object a line with `time`, `level`, `event`, the request's id
/// and the caller's fields.
///
/// Fields are for machines and operators: identifiers, counts, codes. Personal data never goes
/// into a log line, because a line cannot be erased with its subject's key.
public struct Log: Sendable {
    public enum Level: Int, Comparable, CaseIterable, Sendable {
        case debug, info, notice, warning, error

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        public var name: String {
            switch self {
            case .debug: "debug"
            case .info: "info"
            case .notice: "notice"
            case .warning: "warning"
            case .error: "error"
            }
        }

        public init?(_ name: String) {
            guard let level = Level.allCases.first(where: { $0.name == name }) else { return nil }
            self = level
        }

        /// The priority of syslog and of the journal.
        public var priority: Int {
            switch self {
            case .debug: 7
            case .info: 6
            case .notice: 5
            case .warning: 4
            case .error: 3
            }
        }
    }

    /// The names that Urd writes itself; a field of the caller with one of them gets a `_` behind.
    static let reserved = ["time", "level", "event", "request"]

    /// A longer line is written without its fields, so that one line stays one write.
    static let maximumLineBytes = 16 * 1024

    public let threshold: Level
    let sink: Sink
    let now: @Sendable () -> Timestamp
    let request: String?

    public init(
        threshold: Level = .info, sink: Sink = .standardError,
        now: @escaping @Sendable () -> Timestamp = Log.systemTime
    ) {
        self.init(threshold: threshold, sink: sink, now: now, request: nil)
    }

    private init(
        threshold: Level, sink: Sink, now: @escaping @Sendable () -> Timestamp, request: String?
    ) {
        self.threshold = threshold
        self.sink = sink
        self.now = now
        self.request = request
    }

    /// Drops every line: for callers that were given no log.
    public static let silent = Log(threshold: .error, sink: Sink { _, _ in })

    /// The same log, whose lines carry the id of a request.
    public func forRequest(_ id: String) -> Log {
        Log(threshold: threshold, sink: sink, now: now, request: id)
    }

    public func debug(_ event: StaticString, _ fields: @autoclosure () -> JSONObject = [:]) {
        write(.debug, event, fields)
    }

    public func info(_ event: StaticString, _ fields: @autoclosure () -> JSONObject = [:]) {
        write(.info, event, fields)
    }

    public func notice(_ event: StaticString, _ fields: @autoclosure () -> JSONObject = [:]) {
        write(.notice, event, fields)
    }

    public func warning(_ event: StaticString, _ fields: @autoclosure () -> JSONObject = [:]) {
        write(.warning, event, fields)
    }

    public func error(_ event: StaticString, _ fields: @autoclosure () -> JSONObject = [:]) {
        write(.error, event, fields)
    }

    /// The event is a literal of the program, so that nothing a client sent can name a line.
    private func write(_ level: Level, _ event: StaticString, _ fields: () -> JSONObject) {
        guard level >= threshold else { return }
        var line = head(level, event)
        let bare = line.count
        for (name, value) in fields() {
            line.append(UInt8(ascii: ","))
            JSON.string(Log.reserved.contains(name) ? name + "_" : name).write(into: &line)
            line.append(UInt8(ascii: ":"))
            value.write(into: &line)
        }
        if line.count > Log.maximumLineBytes {
            line.removeSubrange(bare...)
            line += #","truncated":true"#.utf8
        }
        line += "}\n".utf8
        sink.write(line, level)
    }

    private func head(_ level: Level, _ event: StaticString) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        line += #"{"time":""#.utf8
        line += now().description.utf8
        line += #"","level":""#.utf8
        line += level.name.utf8
        line += #"","event":"#.utf8
        JSON.string(event.description).write(into: &line)
        if let request {
            line += #","request":"#.utf8
            JSON.string(request).write(into: &line)
        }
        return line
    }
}
