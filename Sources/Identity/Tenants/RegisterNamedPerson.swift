public import EventSourcing
public import Values

/// Makes an account for a person whom a tenant knows by a name of its own, and is found by that from then on.
public struct RegisterNamedPerson: Command {
    public var registration: RegisterAccount
    /// The stream of the tenant's name: see `TenantName`.
    public var name: UUID
    /// The tenant's client.
    public var client: UUID

    /// The tenant does not answer for the address: its person has to prove it.
    public init(account: UUID, addresses: Addresses, person: Person, name: UUID, client: UUID) {
        registration = RegisterAccount(
            account: account, addresses: addresses, person: person, isConfirmed: false)
        self.name = name
        self.client = client
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// Another person of the tenant has the name.
        case nameTaken
        case notRegistered(RegisterAccount.Rejection)
    }

    public struct Facts: RealmFacts {
        let registration: RegisterAccount.Facts
        let name: Versioned<TenantName>
        /// The account that had the name until now.
        let holder: Versioned<Account>?

        public var realm: Versioned<Realm> { registration.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let registration = try await registration.gather(streams)
        let name = try await streams.read(TenantName.self, name)
        var holder: Versioned<Account>?
        if let account = name.state.account {
            holder = try await streams.read(Account.self, account)
        }
        return Facts(registration: registration, name: name, holder: holder)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        var decision: Decision
        do throws(RegisterAccount.Rejection) {
            decision = try registration.decide(facts.registration)
        } catch {
            throw .notRegistered(error)
        }
        guard facts.holder?.isAlive != true else { throw .nameTaken }
        decision.append(
            TenantNameEvent.given(account: registration.account, client: client), in: name)
        return decision
    }
}
