public import EventSourcing
internal import JSON
public import Postgres
public import Values

/// The passkeys of a realm, as fresh as the log.
public struct Passkeys: Sendable {
    public struct Entry: Sendable, Equatable {
        public let id: UUID
        public let account: UUID
        public let relyingParty: String
        public let credential: [UInt8]
        public let publicKey: [UInt8]
        public let counter: Int64
        public let isBackupEligible: Bool
        public let transports: [String]
        public let enrolledAt: Timestamp
        public let usedAt: Timestamp?
        /// The version of its stream that has its name.
        public let named: Int?
    }

    private let database: Database
    private let byCredential: LookUp<String, Entry>

    public init(_ database: Database) {
        self.database = database
        byCredential = LookUp(database) { connection, realm, credentials in
            var parameters = Parameters(realm: realm.name)
            var array = ArrayParameter(of: .text)
            for credential in credentials { array.append(credential) }
            parameters.add(array)
            return CurrentRows.read(
                finding, parameters, over: connection, key: { $0.text($1, 3) }, Entry.init)
        }
    }

    /// By the id that the authenticator gave it.
    public func find(
        credential: [UInt8], in realm: RealmID
    ) async throws(ReadFailure) -> Entry? {
        try await byCredential.find(Base64URL.encode(credential), in: realm)
    }

    /// The public keys of a realm as they were stored, in the order of their passkeys. It follows the log
    /// at a small distance: for who looks at all of them.
    public func keys(
        in realm: RealmID, after passkey: UUID?, limit: Int
    ) async throws(ReadFailure) -> [(id: UUID, account: UUID, publicKey: [UInt8])] {
        var parameters = Parameters(realm: realm.name)
        parameters.add(passkey ?? .zero)
        parameters.add(Int64(limit))
        return try await database.read { [parameters] connection throws(Postgres.Failure) in
            let rows = try connection.execute(storedKeys, parameters)
            return .success(
                (0..<rows.count).map { row in
                    (
                        rows.identifier(row, 0), rows.identifier(row, 1),
                        Base64URL.decode(rows.text(row, 2)) ?? []
                    )
                })
        }
    }

    /// All of an account, newest first.
    public func all(
        of account: UUID, in realm: RealmID
    ) async throws(ReadFailure) -> [Entry] {
        try await CurrentRows.read(
            listing, Parameters(in: realm, account), from: database, Entry.init
        )
    }
}

extension Passkeys.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
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
            enrolledAt: rows.instant(row, 6),
            usedAt: rows.isNull(row, 7) ? nil : rows.instant(row, 7),
            named: rows.isNull(row, 8) ? nil : Int(rows.int32(row, 8)))
    }
}

private let columns = """
    k.passkey, k.account, k.credential, k.enrolled::text, k.counter, k.enrolled_at, k.used_at,
    k.named
    """

private let storedKeys = Statement(
    "passkeys_public_keys",
    """
    select k.passkey, k.account, k.enrolled ->> 'public_key' from urd.passkeys k
    where k.realm = $1 and k.passkey > $2 order by k.passkey limit $3
    """)
private let finding = Statement(
    "passkey_by_credential",
    """
    select p.current, \(columns)
    from urd.passkeys_position p
    left join urd.passkeys k on k.realm = $1 and k.credential = any ($2)
    where p.realm = $1
    """)
private let listing = Statement(
    "passkeys_of_account",
    """
    select p.current, \(columns)
    from urd.passkeys_position p
    left join urd.passkeys k on k.realm = $1 and k.account = $2
    where p.realm = $1 order by k.passkey desc
    """)
