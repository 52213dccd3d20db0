/// Columns without a value that were read as if they had one: what a damaged row looks like. The reader goes on
/// with a zero, and the connection refuses the next statement, the commit and the result.
final class NullReads {
    /// The statement whose rows are read.
    var statement = ""
    private var first: String?

    func note(_ column: String) {
        if first == nil { first = statement.isEmpty ? column : "\(column) of \(statement)" }
    }

    /// The column of the first null since the last call.
    func take() -> String? {
        defer { first = nil }
        return first
    }
}
