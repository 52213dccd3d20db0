internal import Synchronization

/// A number that only grows. Adding is one atomic instruction; at its end it wraps, as Prometheus
/// expects of a counter that was reset.
public final class Counter: Metric {
    private let count = Atomic<UInt64>(0)

    public init() {}

    public var value: UInt64 { count.load(ordering: .relaxed) }

    public func add(_ amount: UInt64 = 1) {
        count.wrappingAdd(amount, ordering: .relaxed)
    }

    /// A negative amount is ours to avoid, not a reason to end the process: it counts as nothing.
    public func add(_ amount: Int) {
        if amount > 0 { add(UInt64(amount)) }
    }

    public func render(name: String, labels: String, into text: inout String) {
        appendSample(name, labels, String(value), to: &text)
    }
}

/// A metric whose value goes up and down.
public final class Gauge: Metric {
    private let bits = Atomic<UInt64>(Double(0).bitPattern)

    public init() {}

    public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    public func set(_ value: some BinaryInteger) { set(Double(value)) }

    public func add(_ amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (exchanged, current) = bits.weakCompareExchange(
                expected: old, desired: new, ordering: .relaxed)
            if exchanged { return }
            old = current
        }
    }

    public func render(name: String, labels: String, into text: inout String) {
        appendSample(name, labels, number(value), to: &text)
    }
}

func appendSample(_ name: String, _ labels: String, _ value: String, to text: inout String) {
    text += name
    if !labels.isEmpty { text += "{\(labels)}" }
    text += " \(value)\n"
}

/// Whole numbers without a fraction; what is not a number in the spelling of the format.
func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value) { return String(whole) }
    return value.description
}
