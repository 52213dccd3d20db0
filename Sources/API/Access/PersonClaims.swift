internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// What may be told of a user.
struct PersonClaims {
    private let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    /// All claims that there are of a person (OpenID Connect Core section 5.1). They are read from the
    /// events: they stand nowhere else.
    func claims(of account: UUID) async throws(Problem) -> JSONObject {
        let events = try await RealmLookups(context).events(of: account)
        guard let known = KnownPerson(events), !known.isErased else { return [:] }
        return Self.claims(of: known)
    }

    private static func claims(of known: KnownPerson) -> JSONObject {
        let person = known.person
        var claims: JSONObject = [:]
        if let email = person.email {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(known.isConfirmed)
        }
        if let phone = person.phone {
            claims["phone_number"] = .string(phone)
            claims["phone_number_verified"] = .bool(known.isConfirmed)
        }
        claims["given_name"] = person.firstName.map { .string($0) }
        claims["family_name"] = person.lastName.map { .string($0) }
        let names = [person.firstName, person.lastName].compactMap { $0 }
        if !names.isEmpty { claims["name"] = .string(names.joined(separator: " ")) }
        claims["locale"] = person.language.map { .string($0) }
        claims["updated_at"] = known.changedAt.map { .integer($0.seconds) }
        return claims
    }

    /// What a person is shown as: the mail address, or the phone number of who has none.
    func address(of account: UUID) async throws(Problem) -> String? {
        let claims = try await claims(of: account)
        return (claims["email"] ?? claims["phone_number"])?.string
    }

    /// What a token's scope lets its holder know of the person, and what was asked for by name.
    func claims(of account: UUID, _ scope: [String], named: [String] = []) async throws(Problem)
        -> JSONObject
    {
        let names = Self.names(in: scope).union(named)
        guard !names.isEmpty else { return [:] }
        return try await claims(of: account).filter { names.contains($0.key) }
    }

    /// The same of a person whose account was read.
    static func claims(of known: KnownPerson, _ scope: [String]) -> JSONObject {
        let names = Self.names(in: scope)
        return claims(of: known).filter { names.contains($0.key) }
    }

    private static func names(in scope: [String]) -> Set<String> {
        Set(members.filter { scope.contains($0.scope) }.flatMap(\.claims))
    }

    /// OpenID Connect Core section 5.4.
    private static var members: [(scope: String, claims: [String])] {
        [
            ("email", ["email", "email_verified"]),
            ("phone", ["phone_number", "phone_number_verified"]),
            ("profile", ["name", "given_name", "family_name", "locale", "updated_at"]),
        ]
    }

    /// What other systems of the realm know a user by.
    func businessPartner(of account: UUID) async throws(Problem) -> String? {
        let events = try await RealmLookups(context).events(of: account)
        guard let known = KnownPerson(events), !known.isErased else { return nil }
        return known.person.externalID
    }
}
