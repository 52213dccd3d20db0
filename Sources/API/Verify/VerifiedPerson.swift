internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// A person as tenants know them: by the address that was proved, of two that they may have.
struct VerifiedPerson: Sendable {
    let account: UUID
    /// Empty once the person is erased.
    let address: String
    let isPhone: Bool
    let createdAt: Timestamp
    let changedAt: Timestamp
    /// The ways beside a code, in the words of the profile.
    let enrolled: [String]

    /// A tenant's own name of the person, behind its API key.
    fileprivate let externalID: String?

    /// What is shown where there is no such person, or none that the caller may know of.
    static let nobody = VerifiedPerson(
        account: .zero, address: "", isPhone: false, createdAt: Timestamp(seconds: 0),
        changedAt: Timestamp(seconds: 0), enrolled: [], externalID: nil)

    /// What the tenant calls the person: what it said itself, and never what another one did.
    func name(for apiKey: String) -> String {
        guard let externalID, externalID.utf8.starts(with: "\(apiKey):".utf8) else {
            return account.description
        }
        return String(externalID.dropFirst(apiKey.count + 1))
    }

    var kind: String { isPhone ? "PHONE" : "EMAIL" }

    func user(of apiKey: String) -> JSON {
        [
            "ID": .string(account.description), "created_at": .string(createdAt.description),
            "updated_at": .string(changedAt.description),
            "update_at": .string(changedAt.description),
            "deleted_at": .string(Timestamp.never), "issuer": .string(apiKey),
            "client_user_id": .string(name(for: apiKey)),
            "enrolled": .array(enrolled.map { .string($0) }),
            "default_method": .string(enrolled.first ?? "OTP"), "identifier": .string(address),
        ]
    }
}

extension Call<RealmContext> {
    /// Nil where there is no such account, or none any more.
    ///
    /// - Parameter scope: of the session, which has `phone` where a phone number was asked for.
    func verifiedPerson(
        _ account: UUID, for tenant: Tenant, scope: [String] = []
    ) async throws(Problem) -> VerifiedPerson? {
        let lookups = RealmLookups(context)
        let methods = try await methods(of: account, for: tenant).enrolled
        return VerifiedPerson(
            try await lookups.events(of: account), methods,
            hasPasskeys: try await !lookups.passkeys(of: account).isEmpty, scope)
    }

    /// The verified person of granted tokens, from events that were read since the moment.
    func verifiedPerson(
        _ account: UUID, _ granted: GrantedTokens, _ passkeys: Later<[PasskeyView]>,
        since moment: ContinuousClock.Instant
    ) async throws(Problem) -> VerifiedPerson? {
        VerifiedPerson(
            try await RealmLookups(context).events(of: account, since: moment),
            granted.tenantMethods,
            hasPasskeys: try await !reading { () throws(LogFailure) in try await passkeys() }
                .isEmpty, granted.terms.scope)
    }
}

extension VerifiedPerson {
    fileprivate init?(
        _ events: [Recorded], _ methods: [TenantMethod], hasPasskeys: Bool, _ scope: [String]
    ) {
        guard let first = events.first, let known = KnownPerson(events) else { return nil }
        let phone = known.person.email == nil || scope.contains("phone") ? known.person.phone : nil
        let address = phone ?? known.person.email ?? ""
        self.init(
            account: first.stream, address: address, isPhone: phone != nil,
            createdAt: first.at, changedAt: known.changedAt ?? first.at,
            enrolled: (hasPasskeys ? ["WEBAUTHN"] : []) + methods.map(\.rawValue),
            externalID: known.person.externalID)
    }
}

extension Timestamp {
    /// The timestamp that stands for "not deleted".
    static let never = "0001-01-01T00:00:00Z"
}
