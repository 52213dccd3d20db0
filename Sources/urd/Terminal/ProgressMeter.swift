/// How far a long piece of work is, how fast it goes and how long it will take: pure, the time is
/// given.
struct ProgressMeter: Sendable {
    let label: String
    let unit: String
    private(set) var total: Int64?
    private(set) var done: Int64 = 0
    /// The last seconds, so that the rate is that of now and not of the whole way.
    private var recent: [(at: Duration, done: Int64)] = [(.zero, 0)]
    private var drawn: Duration?

    static let window: Duration = .seconds(5)
    static let interval: Duration = .milliseconds(200)

    init(_ label: String, unit: String, total: Int64?) {
        self.label = label
        self.unit = unit
        self.total = total
    }

    /// Takes note; returns the line to draw, when it is time to draw one.
    mutating func advance(to done: Int64, total: Int64? = nil, at now: Duration) -> String? {
        self.done = done
        if let total { self.total = total }
        if let last = recent.last, now - last.at >= .milliseconds(100) {
            recent.append((now, done))
            while recent.count > 2, let first = recent.first, now - first.at > Self.window {
                recent.removeFirst()
            }
        }
        if let drawn, now - drawn < Self.interval { return nil }
        drawn = now
        return line(at: now)
    }

    func line(at now: Duration) -> String {
        var text = "\(label): \(Self.grouped(done))"
        if let total, total > 0 {
            let percent = min(100, Double(done) / Double(total) * 100)
            text += " of \(Self.grouped(total)) \(unit) (\(Int(percent)) %)"
        } else {
            text += " \(unit)"
        }
        guard let rate = rate(at: now), rate > 0 else { return text }
        text += ", \(Self.grouped(Self.whole(rate)))/s"
        if let total, total > done {
            text += ", \(Self.spoken(seconds: Self.whole(Double(total - done) / rate))) left"
        }
        return text
    }

    /// What stands there at the end: the whole way and its average.
    func closing(at now: Duration) -> String {
        let seconds = now / .seconds(1)
        var text = "\(label): \(Self.grouped(done)) \(unit) in \(Self.spoken(tenths: seconds))"
        if seconds >= 0.1 { text += ", \(Self.grouped(Self.whole(Double(done) / seconds)))/s" }
        return text
    }

    private func rate(at now: Duration) -> Double? {
        guard let first = recent.first, now - first.at >= .milliseconds(100) else { return nil }
        return Double(done - first.done) / ((now - first.at) / .seconds(1))
    }

    private static func whole(_ value: Double) -> Int64 {
        value.isFinite ? Int64(min(max(value, 0), 9e15)) : 0
    }

    static func grouped(_ number: Int64) -> String {
        let digits = Array(String(number.magnitude).utf8)
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }

    static func spoken(seconds: Int64) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
        default: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        }
    }

    private static func spoken(tenths seconds: Double) -> String {
        let tenths = whole(seconds * 10)
        return tenths < 600 ? "\(tenths / 10).\(tenths % 10) s" : spoken(seconds: tenths / 10)
    }
}
