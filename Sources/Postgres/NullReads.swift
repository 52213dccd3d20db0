/// Columns without a value that were read as if they had one: what a damaged row looks like. The reader goes on
/// with a zero, and the connection refuses the next statement, the commit and the result.
final class NullReads {
    /// What is being read.
    var statement = ""
    private var first: String?

    func note(_ column: String) {
        if first == nil { first = statement.isEmpty ? column : "\(column) of \(statement)" }
    }

    /// The first one since it was asked last.
    func take() -> String? {
        defer { first = nil }
        return first
    }
}
