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

    var fields: JSONObject {
        var fields: JSONObject = ["rounds": .integer(rounds)]
        fields["hash"] = hash.map { .string($0) }
        fields["hint"] = hint.map { .string($0) }
        fields["key"] = key.map { .string($0) }
        fields["public_key"] = publicKey.map { .string($0) }
        fields["private_key"] = privateKey.map { .string($0) }
        return fields
    }

    init?(recorded fields: JSONObject) {
        guard let rounds = fields["rounds"]?.integer else { return nil }
        self.init(
            rounds: rounds, hash: fields["hash"]?.string, hint: fields["hint"]?.string,
            key: fields["key"]?.string, publicKey: fields["public_key"]?.string,
            privateKey: fields["private_key"]?.string)
    }
}
