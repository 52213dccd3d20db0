public import EventSourcing
internal import Values

/// What a change of a person's own second factor looks at.
public struct OwnTwoFactor: RealmFacts {
    public let realm: Versioned<Realm>
    let account: Versioned<Account>
    let factor: Versioned<TwoFactor>

    static func read(
        _ account: UUID, from streams: some StreamReader
    ) async throws(LogFailure) -> OwnTwoFactor {
        OwnTwoFactor(
            realm: try await streams.read(Realm.self, Realm.stream),
            account: try await streams.read(Account.self, account),
            factor: try await streams.read(TwoFactor.self, TwoFactor.stream(of: account)))
    }

    func requireWelcome() throws(TwoFactorRejection) {
        guard account.isWelcome else { throw .accountBlocked }
    }

    /// The stream that all of it is written to.
    var stream: UUID { factor.stream }
}

/// Why a second factor stays as it is.
public enum TwoFactorRejection: Error, Equatable, Sendable {
    case accountBlocked
    /// The account has an authenticator app, which has to be removed first.
    case enrolledAlready
    case notEnrolled
    /// No secret was shown of late.
    case notOffered
    case wrongCode
}

/// Where a wrong code is put on record, it is an outcome.
public typealias TwoFactorOutcome = Result<Void, TwoFactorRejection>
