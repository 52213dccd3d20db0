public import Values

extension Claim {
    /// A claim that expires, such as that a message was used which is good for some minutes only.
    /// Its kind bears the hour in which it can be forgotten, in digits that sort by time: so all
    /// expired claims can be found and removed without a look at the rest.
    public init(_ kind: String, _ value: String, until: Timestamp) {
        // Clocks of nodes and of the database differ: an hour more does no harm.
        let hour = max(0, until.seconds / 3600) + 2
        let digits = String(hour)
        let padding = String(repeating: "0", count: max(0, Self.hourDigits - digits.utf8.count))
        self.init("\(Self.expiring)\(padding)\(digits) \(kind)", value)
    }

    static let expiring = "until "
    private static let hourDigits = 10

    /// The kind that a claim was made with, without the hour.
    public static func purpose(of kind: String) -> String {
        guard kind.utf8.starts(with: expiring.utf8) else { return kind }
        return String(
            decoding: kind.utf8.dropFirst(expiring.utf8.count + hourDigits + 1), as: UTF8.self)
    }
}
