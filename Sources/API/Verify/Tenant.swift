internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels

/// A client of the verify profile, by the API key that its apps show: the client's name, which is no secret.
struct Tenant: Sendable {
    let client: KnownClient
    let apiKey: String

    var places: [String] { client.metadata.redirectURIs }
    /// What people are told whose page they come from.
    var name: String? { client.metadata.isUnchecked ? nil : client.metadata.clientName }

    static let keyHeader = "API_KEY_ID"
    static let secretHeader = "API_SECRET_KEY"

    static let key = Parameter(
        keyHeader, in: .header, .text(0...255),
        "API key of the tenant: its OAuth client id.")
    static let secret = Parameter(
        secretHeader, in: .header, .text(0...255),
        "Client secret of the tenant, for its servers only.")
    static let pathKey = Parameter(
        "api_key", in: .path, .text(1...255), "API key of the tenant.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")
}

extension Call<RealmContext> {
    /// The tenant with this API key. What is cached of it is never a reason to refuse.
    func tenant(_ key: String?) async throws(Problem) -> Tenant {
        let (clients, realm) = (context.clients, context.place.realm)
        guard let key, (1...128).contains(key.utf8.count), !key.utf8.contains(0) else {
            throw Self.unknownKey
        }
        for isFresh in [false, true] {
            let known = try await reading { () throws(LogFailure) in
                isFresh
                    ? try await clients.fresh(key, in: realm)
                    : try await clients.recent(key, in: realm)
            }
            if let known, !known.isDisabled, known.metadata.rules.isTenant {
                return Tenant(client: known, apiKey: key)
            }
        }
        throw Self.unknownKey
    }

    static var unknownKey: Problem {
        Problem(.forbidden, "The API_KEY_ID is not valid: there is no such tenant here.")
    }

    /// The tenant's own server: what its apps know is not enough. As it is now, since the secret may have been
    /// replaced a moment ago.
    func tenantServer() async throws(Problem) -> Tenant {
        let tenant = try await tenant(request.headers[Tenant.keyHeader])
        let known = try await reading { () throws(LogFailure) in
            try await context.clients.fresh(tenant.apiKey, in: context.place.realm)
        }
        let shown = shownSecret(of: tenant.apiKey) ?? ""
        guard let known, !known.isDisabled, let secret = known.secret,
            constantTimeEqual(SHA256.hash(Array(shown.utf8)), secret.bytes)
        else {
            throw Problem(
                .forbidden, "The API_SECRET_KEY is not valid for this API_KEY_ID.")
        }
        return Tenant(client: known, apiKey: tenant.apiKey)
    }

    /// The secret that came along. Apps without one send the header all the same: it is empty there, or has the API
    /// key, which is no secret.
    private func shownSecret(of key: String?) -> String? {
        guard let shown = request.headers[Tenant.secretHeader], !shown.isEmpty, shown != key
        else { return nil }
        return shown
    }

    /// Who of a tenant asks: its server where the secret came along, else one of its apps.
    ///
    /// - Parameter asServer: what is asked is for servers alone.
    func tenantCaller(
        asServer: Bool = false
    ) async throws(Problem) -> (tenant: Tenant, isServer: Bool) {
        let key = request.headers[Tenant.keyHeader]
        guard asServer || shownSecret(of: key) != nil else { return (try await tenant(key), false) }
        return (try await tenantServer(), true)
    }

    /// Answers an app of a tenant. Pages of the tenant's origins may read the answer, with the browser's
    /// cookies; those of other origins are refused.
    func answerTenant(
        _ tenant: Tenant, _ work: () async throws(Problem) -> Response
    ) async throws(Problem) -> Response {
        guard let origin = request.headers["Origin"] else { return try await work() }
        guard TenantPlace(origin)?.isAllowedOrigin(by: tenant.places) == true else {
            var refused = Problem(
                .forbidden, "The origin \(origin.prefix(200)) is not allowed for this API_KEY_ID.")
            refused.isClosedToScripts = true
            throw refused
        }
        var response: Response
        do throws(Problem) {
            response = try await work()
        } catch {
            response = error.response(to: request, in: .verify)
        }
        CrossOriginAccess.mayReadWithCookies(&response, origin)
        return response
    }
}
