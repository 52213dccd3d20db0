public import EventSourcing
internal import JSON
internal import Postgres
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
    /// The version of its stream that has its name. Nil for a passkey without one.
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

    private init?(_ rows: Rows, _ row: Int) {
        guard let enrolled = rows.object(row, 4),
            let relyingParty = enrolled["relying_party"]?.string,
            let credential = Base64URL.decode(rows.text(row, 3)),
            let publicKey = enrolled["public_key"]?.string.flatMap({ Base64URL.decode($0) }),
            let isBackupEligible = enrolled["backup_eligible"]?.bool
        else { return nil }
        self.init(
            id: rows.identifier(row, 1), account: rows.identifier(row, 2),
            relyingParty: relyingParty, credential: credential, publicKey: publicKey,
            counter: rows.int64(row, 5), isBackupEligible: isBackupEligible,
            transports: enrolled["transports"]?.array?.compactMap(\.string) ?? [],
            enrolledAt: rows.instant(row, 6), usedAt: rows.optionalInstant(row, 7),
            named: rows.optionalInteger(row, 8))
    }
}

extension ReadModelQueries {
    /// Begins the query of the passkeys now; the answer is awaited later.
    public func beginPasskeys(of account: UUID, in realm: RealmID) -> Later<[PasskeyView]> {
        let answer = passkeysByAccount.begin(account, in: realm)
        return { () throws(LogFailure) in
            try await reading { () throws(ReadFailure) in try await answer.value ?? [] }
        }
    }

    /// The public keys of a realm as they were stored, in the order of their passkeys. It follows the log
    /// at a small distance: for who looks at all of them.
    public func storedPublicKeys(
        in realm: RealmID, after passkey: UUID?, limit: Int
    ) async throws(LogFailure) -> [(passkey: UUID, account: UUID, publicKey: [UInt8])] {
        try await rows(storedKeys, Parameters(in: realm, after: passkey, limit: limit)) {
            (
                passkey: $0.identifier($1, 0), account: $0.identifier($1, 1),
                publicKey: Base64URL.decode($0.text($1, 2)) ?? []
            )
        }
    }
}

extension PasskeyView {
    /// By the id that its authenticator gave it, in any account. Removed passkeys are not found.
    public static let byCredential = Question<[UInt8], PasskeyView?>("passkey_by_credential") {
        models, realm, credential throws(LogFailure) in
        try await models.find(
            Base64URL.encode(credential), by: models.passkeysByCredential, in: realm)
    }
    /// The passkeys of an account, the newest first.
    public static let ofAccount = Question<UUID, [PasskeyView]>("passkeys_of_account") {
        models, realm, account throws(LogFailure) in
        try await models.find(account, by: models.passkeysByAccount, in: realm) ?? []
    }
    private static let columns = Columns(
        of: "passkeys", key: "passkey",
        "m.account, m.credential, m.enrolled::text, m.counter, m.enrolled_at, m.used_at, m.named",
        Self.init(_:_:))
    static let ofCredentials = columns.find(
        "passkey_by_credential", where: "m.credential = any ($2)")
    static let ofAccounts = columns.all(
        "passkeys_of_accounts", where: "m.account = any ($2)", descending: true)
}

private let storedKeys = Statement(
    "passkeys_public_keys",
    """
    select k.passkey, k.account, k.enrolled ->> 'public_key' from urd.passkeys k
    where k.realm = $1 and k.passkey > $2 order by k.passkey limit $3
    """)
