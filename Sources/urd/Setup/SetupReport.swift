import JSON

/// What a setup made, and what it found.
struct SetupReport: Sendable {
    private(set) var rows: [(part: String, isNew: Bool)] = []
    private let console: Console

    init(_ console: Console) {
        self.console = console
    }

    /// The console shows each part as soon as it is there.
    mutating func add(_ part: String, _ isNew: Bool) {
        rows.append((part, isNew))
        console.complain((isNew ? "made   " : "found  ") + part)
    }

    var json: JSON {
        .array(
            rows.map { row in
                ["part": .string(row.part), "result": .string(row.isNew ? "made" : "found")]
            })
    }
}
