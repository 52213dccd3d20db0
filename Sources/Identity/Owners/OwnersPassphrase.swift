public import EventSourcing

/// A realm's owner and their passphrase.
public struct OwnersPassphrase: RealmFacts {
    let owner: InRealm<Owner>
    /// Nil where there is no owner.
    let account: Versioned<Account>?
    let passphrase: Versioned<Passphrase>?

    public var realm: Versioned<Realm> { owner.realm }

    static func read(
        from streams: some StreamReader
    ) async throws(LogFailure) -> OwnersPassphrase {
        let owner: InRealm<Owner> = try await .read(Owner.stream, from: streams)
        guard let account = owner.thing.state.account else {
            return OwnersPassphrase(owner: owner, account: nil, passphrase: nil)
        }
        return OwnersPassphrase(
            owner: owner, account: try await streams.read(Account.self, account),
            passphrase: try await streams.read(Passphrase.self, Passphrase.stream(of: account)))
    }
}
