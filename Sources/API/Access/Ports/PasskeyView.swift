public import Values

/// A passkey, as its use and its owner's list need it.
public struct PasskeyView: Sendable, Equatable {
    public var id: UUID
    public var account: UUID
    public var relyingParty: String
    /// What the authenticator calls it.
    public var credential: [UInt8]
    public var publicKey: [UInt8]
    public var counter: Int64
    public var isBackupEligible: Bool
    public var transports: [String]
    public var enrolledAt: Timestamp
    public var usedAt: Timestamp?
    /// The version of its stream that has its name. Nil where it was given none.
    public var named: Int?

    public init(
        id: UUID, account: UUID, relyingParty: String, credential: [UInt8], publicKey: [UInt8],
        counter: Int64, isBackupEligible: Bool, transports: [String], enrolledAt: Timestamp,
        usedAt: Timestamp? = nil, named: Int? = nil
    ) {
        self.id = id
        self.account = account
        self.relyingParty = relyingParty
        self.credential = credential
        self.publicKey = publicKey
        self.counter = counter
        self.isBackupEligible = isBackupEligible
        self.transports = transports
        self.enrolledAt = enrolledAt
        self.usedAt = usedAt
        self.named = named
    }
}
