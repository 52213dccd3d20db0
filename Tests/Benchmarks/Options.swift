/// What was asked for.
struct Options: Sendable {
    /// Millions of events instead of hundreds of thousands, and longer slices.
    var isFull = false
    var json: String?
    /// Names of figures. Empty: all of them.
    var only: Set<String> = []
    /// How many people a crowd is. Nil: as many as fit the rest.
    var users: Int?
    /// Where to leave counts of instructions, which are made instead of figures then.
    var counts: String?
    /// The server that is counted. Nil: the one beside this program.
    var urd: String?
    /// What to say instead of measuring.
    var answer: String?

    private static let help = """
        urd-bench [--full] [--json FILE] [--only NAME]... [--users N]

          --full       all figures, millions of events, longer slices
          --json FILE  writes the figures there as well
          --only NAME  measures this figure alone; may be given again
          --users N    so many for the figures of a crowd: 20,000, or a million with --full
          --counts DIR counts instructions instead, into this folder (`make cost`)
          --urd FILE   the server that is counted
          --help       this

        Figures (* only with --full, or by name):
        \(Figures.all.map(line).joined(separator: "\n"))

        Operations whose instructions are counted:
        \(Operation.all.map { "  \($0.name.padded(to: 20))\($0.summary)" }.joined(separator: "\n"))
        """

    private static func line(_ entry: Figures.Entry) -> String {
        "  \(entry.name.padded(to: 18))\(entry.isLong ? "* " : "")\(entry.summary)"
    }

    func isChosen(_ entry: Figures.Entry) -> Bool {
        only.isEmpty ? isFull || !entry.isLong : only.contains(entry.name)
    }

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--full": isFull = true
            case "--json": json = try Self.value(of: argument, &rest)
            case "--counts": counts = try Self.value(of: argument, &rest)
            case "--urd": urd = try Self.value(of: argument, &rest)
            case "--only": only.insert(try Self.value(of: argument, &rest))
            case "--users":
                let text = try Self.value(of: argument, &rest)
                guard let count = Int(text), count > 0 else {
                    throw BenchmarkFailure("--users needs a number of people.")
                }
                users = count
            case "--help", "-h": answer = Self.help
            default: throw BenchmarkFailure("\(argument) is not an option. See --help.")
            }
        }
        let known = counts == nil ? Figures.all.map(\.name) : Operation.all.map(\.name)
        for name in only where !known.contains(name) {
            throw BenchmarkFailure("There is no figure '\(name)'. See --help.")
        }
    }

    private static func value(
        of option: String, _ rest: inout ArraySlice<String>
    ) throws -> String {
        guard let value = rest.popFirst() else {
            throw BenchmarkFailure("\(option) needs a value.")
        }
        return value
    }
}

struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension String {
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
