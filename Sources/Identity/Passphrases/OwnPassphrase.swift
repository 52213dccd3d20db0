public import EventSourcing
internal import Values

/// What a change of a person's own passphrase looks at.
public struct OwnPassphrase: RealmFacts {
    public let realm: Versioned<Realm>
    let settings: Settings
    let account: Versioned<Account>
    let passphrase: Versioned<Passphrase>

    static func read(
        _ account: UUID, app: UUID?, from streams: some StreamReader
    ) async throws(LogFailure) -> OwnPassphrase {
        let (realm, settings) = try await Realm.settings(of: app, from: streams)
        return OwnPassphrase(
            realm: realm, settings: settings,
            account: try await streams.read(Account.self, account),
            passphrase: try await streams.read(
                Passphrase.self, Passphrase.stream(of: account)))
    }

    func requireWelcome() throws(PassphraseRejection) {
        guard account.isWelcome else { throw .accountBlocked }
    }
}

/// Why a passphrase stays as it is.
public enum PassphraseRejection: Error, Equatable, Sendable {
    case accountBlocked
    /// Sign-in by passphrase is not offered here.
    case notOffered
    /// The account has no passphrase.
    case notSet
    case signInTooOld(limit: Int64)
}

extension Decision {
    /// Another passphrase, or none any more: what was mailed before proves nothing from then on.
    mutating func changePassphrase(
        _ event: PassphraseEvent, in stream: UUID, of account: UUID
    ) {
        append(event, in: stream)
        append(AccountEvent.proofsEnded, in: account)
    }
}
