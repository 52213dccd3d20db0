public import EventSourcing
internal import JSON
public import Values

/// All that a person has allowed a client so far.
public struct GivenConsent: Sendable, Equatable {
    public var account: UUID
    /// The client's stream and its name.
    public var client: UUID
    public var clientID: String
    /// Wherever the client led to.
    public var agreed: Agreement
    /// The part that counts while the client is unverified; the latest comes last.
    public var places: [PlacedAgreement]
    /// The time at which the user was last asked.
    public var at: Timestamp

    /// Maximum number of places, each agreed to by hand: for a dropped one, consent is asked for again.
    static let mostPlaces = 50

    public init(
        account: UUID, client: UUID, clientID: String, agreed: Agreement,
        places: [PlacedAgreement] = [], at: Timestamp
    ) {
        self.account = account
        self.client = client
        self.clientID = clientID
        self.agreed = agreed
        self.places = places
        self.at = at
    }

    /// The consent that counts; nil without one.
    /// - Parameter place: where an unverified client leads people to: its person was shown the
    ///   place, and agreed to that one.
    public func agreed(leadingTo place: String?) -> Agreement? {
        guard let place else { return agreed }
        return places.first { $0.place == place }?.agreed
    }
}

/// What happens between a person and a client: one stream for the two.
public enum ConsentEvent: FormedEvent {
    case given(GivenConsent)
    case withdrawn(account: UUID, client: UUID)

    package enum Form {
        package static let given = EventForm(
            "consent.given", .services, .consentGiven,
            "The person consented to what the client asked for.", .consent, make: ConsentEvent.given
        )
        package static let withdrawn = EventForm(
            "consent.withdrawn", .services, .consentWithdrawn, "The person withdrew the consent.",
            .account, .client, make: ConsentEvent.withdrawn)
    }

    public static let forms: EventForms<Self> = [Form.given, Form.withdrawn]

    public var subject: UUID? {
        switch self {
        case .given(let consent): consent.account
        case .withdrawn(let account, _): account
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .given(let consent): Form.given(consent)
        case .withdrawn(let account, let client): Form.withdrawn(account, client)
        }
    }
}

extension Field<GivenConsent> {
    fileprivate static let consent = record(
        .account, .client, .clientID, .scope, .unless([], .resources), .places,
        .time("given_at", "When the person consented."),
        make: {
            GivenConsent(
                account: $0, client: $1, clientID: $2,
                agreed: Agreement(scope: $3, resources: $4), places: $5, at: $6)
        },
        take: {
            (
                $0.account, $0.client, $0.clientID, $0.agreed.scope, $0.agreed.resources, $0.places,
                $0.at
            )
        })
}

extension Field<[PlacedAgreement]> {
    fileprivate static let places = whereThere(
        Field(
            EventField(
                "places", .list(.object), "What was agreed to by place, of an unverified client."),
            write: { .array($0.map(\.json)) }, read: { PlacedAgreement.list($0) }),
        write: { $0.isEmpty ? nil : $0 }, read: { $0 ?? [] })
}
