public import Cryptography

/// What passphrases take that must not be done on the pool that runs tasks: tenths of a second each,
/// and megabytes of memory, so that only a few are worked on at once.
public struct PassphraseWork: Sendable {
    let hash: @Sendable (SecretBytes) async throws -> String
    /// Without a text the work is the same, and the answer no.
    let verify: @Sendable (SecretBytes, _ text: String?) async throws -> Bool
    /// Whether it stands in the list of those that others lost.
    let isKnown: @Sendable (SecretBytes) async throws -> Bool
    /// What a device of an owner makes of what he types, for browsers that make nothing of it: from what
    /// was typed, the salt and the rounds.
    public var derive: @Sendable (SecretBytes, [UInt8], Int) async throws -> String = { _, _, _ in
        throw Unavailable()
    }

    public init(
        hash: @escaping @Sendable (SecretBytes) async throws -> String,
        verify: @escaping @Sendable (SecretBytes, _ text: String?) async throws -> Bool,
        isKnown: @escaping @Sendable (SecretBytes) async throws -> Bool
    ) {
        self.hash = hash
        self.verify = verify
        self.isKnown = isKnown
    }

    private struct Unavailable: Error {}

    /// Where nobody works on them.
    public static let none = PassphraseWork(
        hash: { _ in throw Unavailable() }, verify: { _, _ in throw Unavailable() },
        isKnown: { _ in throw Unavailable() })
}
