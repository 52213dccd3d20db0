public import Cryptography

/// Who has work done on a passphrase, and about whom: turns are fair between both.
public struct PassphraseTurn: Sendable, Hashable {
    /// The network that the request came from.
    public var source: String
    /// The blocks of networks that it is part of, the widest first.
    public var blocks: [String]
    /// The account, the mail address or the realm that it asks about.
    public var target: String

    public init(source: String, blocks: [String] = [], target: String) {
        self.source = source
        self.blocks = blocks
        self.target = target
    }
}

/// What passphrases take that must not be done on the pool that runs tasks: tenths of a second each,
/// and megabytes of memory, so that only a few are worked on at once.
public struct PassphraseWork: Sendable {
    let hash: @Sendable (SecretBytes, PassphraseTurn) async throws -> String
    /// Without a hash the work is the same, and the result is false.
    let verify: @Sendable (SecretBytes, _ text: String?, PassphraseTurn) async throws -> Bool
    /// Whether the passphrase is in the list of breached ones.
    let isKnown: @Sendable (SecretBytes, PassphraseTurn) async throws -> Bool
    /// Whether another system made this text of the passphrase. A wrong one takes as long as with `verify`.
    public var verifyForeign:
        @Sendable (SecretBytes, _ text: String, PassphraseTurn) async throws -> Bool =
            { _, _, _ in throw Unavailable() }
    /// What a device of an owner makes of what they type, for browsers that make nothing of it: from what
    /// was typed, the salt and the rounds.
    public var derive:
        @Sendable (SecretBytes, [UInt8], Int, PassphraseTurn) async throws -> String =
            { _, _, _, _ in throw Unavailable() }

    public init(
        hash: @escaping @Sendable (SecretBytes, PassphraseTurn) async throws -> String,
        verify:
            @escaping @Sendable (
                SecretBytes, _ text: String?, PassphraseTurn
            ) async throws -> Bool,
        isKnown: @escaping @Sendable (SecretBytes, PassphraseTurn) async throws -> Bool
    ) {
        self.hash = hash
        self.verify = verify
        self.isKnown = isKnown
    }

    private struct Unavailable: Error {}

    /// For processes without passphrase workers.
    public static let none = PassphraseWork(
        hash: { _, _ in throw Unavailable() }, verify: { _, _, _ in throw Unavailable() },
        isKnown: { _, _ in throw Unavailable() })
}
