internal import JSON

/// A passphrase that a device hashes before it sends it, in so many rounds of PBKDF2: what the server
/// hears is hashed again. The keys are the app's own, sealed under what never leaves the device.
public struct DerivedPassphrase: Sendable, Equatable {
    public static let rounds: ClosedRange<Int64> = 50_000...5_000_000

    public var rounds: Int64
    /// What takes its place in the log. Nil where its person is erased.
    public var hash: String?
    public var hint: String?
    public var key: String?
    public var publicKey: String?
    public var privateKey: String?

    public init(
        rounds: Int64, hash: String?, hint: String? = nil, key: String? = nil,
        publicKey: String? = nil, privateKey: String? = nil
    ) {
        self.rounds = rounds
        self.hash = hash
        self.hint = hint
        self.key = key
        self.publicKey = publicKey
        self.privateKey = privateKey
    }
}
