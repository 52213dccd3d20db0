/// Why a text is no YAML that Urd reads, and where. It repeats nothing of the text but the names of members.
public struct YAMLError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Counted from one; 0 for the whole text.
    public let line: Int
    public let what: String

    init(_ line: Int, _ what: String) {
        self.line = line
        self.what = what
    }

    public var description: String { line == 0 ? what : "\(what) at line \(line)" }
}
