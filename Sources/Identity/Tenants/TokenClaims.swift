public import EventSourcing
public import JSON
public import Values

/// What a tenant's server adds to the tokens of one session.
public struct TokenClaims: StreamState {
    /// Empty too where the person's key is destroyed.
    public private(set) var claims: JSONObject = [:]

    public init() {}

    public mutating func apply(_ event: TokenClaimsEvent) {
        switch event {
        case .set(_, _, _, let claims): self.claims = claims
        }
    }

    /// The stream follows from the session's, so that it is found without a look-up.
    public static func stream(of session: UUID) -> UUID {
        UUID(high: session.high, low: session.low ^ 0x0000_636C_6169_6D73)
    }
}

public enum TokenClaimsEvent: FormedEvent {
    /// The complete claims from now on: earlier claims that are left out are removed.
    case set(session: UUID, account: UUID, client: UUID, JSONObject)

    package enum Form {
        package static let set = EventForm(
            "token_claims.set", .services, .object(.other),
            "A tenant's server set claims of a session's tokens.",
            .uuid("session", "Session whose tokens have them."), .account, .client, .claims,
            make: TokenClaimsEvent.set)
    }

    public static let forms: EventForms<Self> = [Form.set]

    public var subject: UUID? {
        switch self {
        case .set(_, let account, _, _): account
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .set(let session, let account, let client, let claims):
            Form.set(session, account, client, claims)
        }
    }
}

extension Field<JSONObject> {
    /// None of a person who is erased.
    fileprivate static let claims = readAs(
        [:], .object("claims", "The claims.", .personal(.person)))
}
