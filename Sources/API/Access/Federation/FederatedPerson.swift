internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// A person as services know them: by the mail address, and by what each service is told.
struct FederatedPerson {
    let account: UUID
    private let claims: JSONObject
    let affiliations: [String]

    /// The audience of roles that are a person's affiliations.
    static let affiliationAudience = "affiliation"

    /// Nil where there is no such account, or none any more.
    ///
    /// - Parameter moment: since which nothing was done to the account by who asks.
    static func find(
        _ account: UUID, in context: RealmContext, since moment: ContinuousClock.Instant
    ) async throws(Problem) -> Self? {
        FederatedPerson(
            account, try await RealmLookups(context).events(of: account, since: moment))
    }

    private init?(_ account: UUID, _ events: [Recorded]) {
        guard let known = KnownPerson(events), !known.isErased else { return nil }
        let claims = PersonClaims.claims(of: known, ["email", "profile", "phone"])
        guard claims["email"]?.string != nil else { return nil }
        self.account = account
        self.claims = claims
        affiliations = known.roles.byAudience[Self.affiliationAudience] ?? []
    }

    var subject: String { claims["email"]?.string ?? "" }

    /// What an assertion says. Services read the usual ones without asking whether they are there: those that they
    /// are told and that are unknown are empty.
    func attributes(for service: FederationService) -> JSONObject {
        let chosen = service.attributes
        var members = attributes(chosen)
        for attribute in FederationAttribute.usual where chosen.contains(attribute) {
            members[attribute.rawValue] = members[attribute.rawValue] ?? ""
        }
        return members
    }

    func attributes(_ chosen: Set<FederationAttribute>) -> JSONObject {
        var members: JSONObject = [:]
        for attribute in chosen {
            switch attribute {
            case .email, .name, .givenName, .familyName, .locale, .phone:
                members[attribute.rawValue] = claims[attribute.rawValue]
            case .affiliations:
                members[attribute.rawValue] = .array(affiliations.map { .string($0) })
            }
        }
        return members
    }
}
