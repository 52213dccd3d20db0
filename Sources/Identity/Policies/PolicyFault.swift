/// What is wrong with a policy, and where: `at` is a JSON pointer into it (RFC 6901).
public struct PolicyFault: Error, Sendable, Equatable {
    public let at: String
    /// What is wrong there, as the end of a sentence.
    public let says: String

    init(_ at: String, _ says: String) {
        self.at = at
        self.says = says
    }

    /// As a sentence.
    public var detail: String { "\(at.isEmpty ? "The policy" : at) \(says)." }
}
