/// One measured thing, beside what the machine can do.
struct Figure: Sendable {
    struct Limit: Sendable {
        let name: String
        let value: Double
    }

    let name: String
    let summary: String
    let unit: String
    /// Nil: not measured, and `note` says why.
    let value: Double?
    let limit: Limit?
    let bar: Bar
    let cost: Cost?
    var note: String?

    init(
        _ name: String, _ summary: String, _ value: Double?, _ unit: String, limit: Limit? = nil,
        bar: Bar, cost: Cost? = nil, note: String? = nil
    ) {
        self.name = name
        self.summary = summary
        self.value = value
        self.unit = unit
        self.limit = limit
        self.bar = bar
        self.cost = cost
        self.note = note
    }

    mutating func add(_ text: String) {
        note = note.map { "\(text); \($0)" } ?? text
    }

    var ratio: Double? {
        guard let value, let limit, limit.value > 0 else { return nil }
        return value / limit.value
    }

    /// Nil where there is no bar or no value.
    var isMet: Bool? {
        switch bar {
        case .none: nil
        case .ratioAtLeast(let bar): ratio.map { $0 >= bar }
        case .ratioAtMost(let bar): ratio.map { $0 <= bar }
        case .atLeast(let bar): value.map { $0 >= bar }
        case .atMost(let bar): value.map { $0 <= bar }
        }
    }
}

/// What a figure must reach.
enum Bar: Sendable {
    case none
    case ratioAtLeast(Double)
    case ratioAtMost(Double)
    case atLeast(Double)
    case atMost(Double)

    func text(_ unit: String) -> String {
        switch self {
        case .none: "-"
        case .ratioAtLeast(let bar): ">= \(spoken(bar)) x limit"
        case .ratioAtMost(let bar): "<= \(spoken(bar)) x limit"
        case .atLeast(let bar): ">= \(spoken(bar)) \(unit)"
        case .atMost(let bar): "<= \(spoken(bar)) \(unit)"
        }
    }
}

/// A number as people write it: as many digits as say something.
func spoken(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "?" }
    if abs(value) >= 100 {
        var text = ""
        for (index, digit) in String(Int(value.rounded())).reversed().enumerated() {
            if index > 0, index % 3 == 0, digit != "-" { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
    return "\((value * 100).rounded() / 100)"
}
