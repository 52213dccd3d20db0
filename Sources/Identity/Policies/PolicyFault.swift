/// What is wrong with a policy, and where: `at` is a JSON pointer into it (RFC 6901).
public struct PolicyFault: Error, Sendable, Equatable {
    public let at: String
    /// The fault, as the end of a sentence.
    public let says: String

    init(_ at: String, _ says: String) {
        self.at = at
        self.says = says
    }

    /// The fault in a sentence.
    public var detail: String { "\(at.isEmpty ? "The policy" : at) \(says)." }
}
