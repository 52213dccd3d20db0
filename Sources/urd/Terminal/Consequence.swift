/// What a command does that no other command can undo at once.
enum Consequence: Equatable, Sendable {
    case harmless
    /// `effect` completes "`urd client delete` …". With `option` the command is destructive only where
    /// that option is given.
    case destructive(_ effect: String, with: String? = nil)

    var isDestructive: Bool { self != .harmless }
}

/// What a destructive command would change, shown before it runs.
struct Preview: Sendable {
    struct Row: Sendable {
        let label: String
        let value: String
    }

    /// What a person types to confirm.
    let name: String
    var rows: [Row] = []
}
