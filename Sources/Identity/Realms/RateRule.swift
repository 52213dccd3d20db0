internal import JSON

/// A rate limit as a realm sets it: by policy and by what is counted. The code that counts knows
/// the policies and the keys.
public enum RateRule {
    public static let amounts: ClosedRange<Int64> = 0...1_000_000
    public static let bursts: ClosedRange<Int64> = 1...1_000_000
    public static let seconds: ClosedRange<Int64> = 1...(31 * 86_400)
    private static let mostNames = 50

    static func check(_ value: JSON) throws(FieldFault.Reason) {
        guard let policies = value.object else { throw .wrongType(expected: .object) }
        guard policies.count <= mostNames else { throw .tooMany(limit: mostNames) }
        for dimensions in policies.values {
            guard let rates = dimensions.object else { throw .wrongType(expected: .object) }
            guard rates.count <= mostNames else { throw .tooMany(limit: mostNames) }
            for rate in rates.values where !rate.isNull { try checkRate(rate) }
        }
    }

    private static func checkRate(_ value: JSON) throws(FieldFault.Reason) {
        guard let rate = value.object else { throw .wrongType(expected: .object) }
        guard rate.keys.allSatisfy(["amount", "seconds", "burst"].contains) else {
            throw .unsupported
        }
        try check(rate["amount"], amounts)
        try check(rate["seconds"], seconds)
        if rate["burst"] != nil { try check(rate["burst"], bursts) }
    }

    private static func check(
        _ value: JSON?, _ range: ClosedRange<Int64>
    ) throws(FieldFault.Reason) {
        guard let value else { throw .missing }
        guard let number = value.integer else { throw .wrongType(expected: .number) }
        guard range.contains(number) else {
            throw .outOfRange(lowest: range.lowerBound, highest: range.upperBound)
        }
    }
}
