public import EventSourcing
public import Values

/// Lets a client know and do what its person agreed to, beside what had been agreed to before. An
/// unverified client may do so only at the place that its person was led to.
public struct GiveConsent: TimedCommand {
    /// The stream of the two.
    public var consent: UUID
    public var account: UUID
    /// The client's stream.
    public var client: UUID
    public var agreed: Agreement
    /// Where the client leads its person to.
    public var place: String
    public var now: Timestamp

    public init(
        consent: UUID, account: UUID, client: UUID, agreed: Agreement, place: String,
        now: Timestamp
    ) {
        self.consent = consent
        self.account = account
        self.client = client
        self.agreed = agreed
        self.place = place
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case clientNotFound
        case accountBlocked
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let account: Versioned<Account>
        let client: Versioned<Client>
        let consent: Versioned<Consent>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            realm: try await streams.read(Realm.self, Realm.stream),
            account: try await streams.read(Account.self, account),
            client: try await streams.read(Client.self, client),
            consent: try await streams.read(Consent.self, consent))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard let metadata = facts.client.aliveMetadata, !facts.client.state.isDisabled else {
            throw .clientNotFound
        }
        guard facts.account.isWelcome else { throw .accountBlocked }
        let before = facts.consent.state.given
        var given = GivenConsent(
            account: account, client: client, clientID: facts.client.state.clientID,
            agreed: (before?.agreed ?? Agreement()).adding(agreed), places: before?.places ?? [],
            at: now)
        if metadata.isUnchecked {
            let there = before?.agreed(leadingTo: place) ?? Agreement()
            given.places.removeAll { $0.place == place }
            given.places.append(PlacedAgreement(place, there.adding(agreed)))
            given.places = given.places.suffix(GivenConsent.mostPlaces)
        }
        return Decision(ConsentEvent.given(given), in: consent)
    }
}
