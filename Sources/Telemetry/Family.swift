internal import Synchronization

/// What one series of a family can do: render its samples.
public protocol Metric: AnyObject, Sendable {
    /// Appends the lines of this series; `labels` is already escaped, without braces, or empty.
    func render(name: String, labels: String, into text: inout String)
}

protocol Renderable: Sendable {
    func render(into text: inout String)
}

/// The series of one metric, told apart by the values of its labels.
///
/// Label values may come from what clients send, and every new value would live for ever: after
/// `maximumSeries` of them all further ones share one series whose labels all say `other`.
public final class Family<Handle: Metric>: Sendable {
    public let name: String
    public let labels: [String]
    let help: String
    let kind: String
    private let maximumSeries: Int
    private let make: @Sendable () -> Handle
    private let series: Mutex<[[String]: Handle]>

    init(
        name: String, help: String, kind: String, labels: [String], maximumSeries: Int,
        make: @escaping @Sendable () -> Handle
    ) {
        precondition(maximumSeries > 0, "a metric has room for one series at least")
        self.name = name
        self.help = help
        self.kind = kind
        self.labels = labels
        self.maximumSeries = maximumSeries
        self.make = make
        self.series = Mutex([:])
    }

    /// The series with these values, in the order of the labels. Keep it where the path is hot.
    public subscript(values: String...) -> Handle { handle(values) }

    public func handle(_ values: [String]) -> Handle {
        precondition(values.count == labels.count, "a series has one value for every label")
        return series.withLock { series in
            if let known = series[values] { return known }
            guard series.count < maximumSeries else {
                let other = Array(repeating: "other", count: labels.count)
                if let known = series[other] { return known }
                let made = make()
                series[other] = made
                return made
            }
            let made = make()
            series[values] = made
            return made
        }
    }

    var only: Handle { handle([]) }
}

extension Family: Renderable {
    func render(into text: inout String) {
        text += "# HELP \(name) \(escaped(help, quotes: false))\n"
        text += "# TYPE \(name) \(kind)\n"
        let sorted = series.withLock {
            $0.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        }
        for (values, handle) in sorted {
            let pairs = zip(labels, values).map { name, value in
                "\(name)=\"\(escaped(value, quotes: true))\""
            }
            handle.render(name: name, labels: pairs.joined(separator: ","), into: &text)
        }
    }
}

/// A backslash and a line feed are escaped everywhere, a quotation mark in label values only.
private func escaped(_ text: String, quotes: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case "\"" where quotes: result += "\\\""
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}
