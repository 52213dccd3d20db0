internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import SecurityKeys
internal import Values

/// A ceremony of WebAuthn in a tenant's app: on a page of which origin, for whose domain.
struct TenantPasskey: Sendable {
    let tenant: Tenant
    let party: PasskeyParty
    let origin: String

    /// Throws what keeps the ceremony from that origin. A passkey belongs to the realm's domain: the origin
    /// has to be within it, and the tenant has to list it.
    init(
        _ tenant: Tenant, _ origin: String, _ call: Call<RealmContext>
    ) async throws(Problem) {
        let party = try await Self.party(of: tenant, call)
        let place = TenantPlace(origin)
        let isListed =
            origin == party.page
            || place?.isAllowedOrigin(by: tenant.places) == true
            || place?.webOrigin == nil && place?.isAllowed(by: tenant.places) == true
        guard isListed, party.relyingParty.accepts(origin) else {
            throw Problem(
                .invalidRequest,
                "The origin \(origin.isEmpty ? "(none)" : String(origin.prefix(200))) may not use "
                    + "passkeys of \(party.id): it must be within that domain, and the tenant's "
                    + "redirect_uris must list it.")
        }
        (self.tenant, self.party, self.origin) = (tenant, party, origin)
    }

    static func party(
        of tenant: Tenant, _ call: Call<RealmContext>
    ) async throws(Problem) -> PasskeyParty {
        let found = try await RealmLookups(call.context).passkeyParty(
            app: tenant.client.metadata.appID ?? call.context.place.app,
            domain: tenant.client.metadata.passkeyDomain)
        guard var party = found, party.settings.offers(.passkey) else {
            throw Problem(
                .invalidRequest, "This realm has no passkeys (login_passkey, webauthn_rp_id).")
        }
        if let own = TenantPlace(call.context.place.issuer)?.webOrigin { party.page = own }
        return party
    }

    /// One that ends a ceremony names its origin in what the authenticator signed: it is the one that began
    /// it, or the challenge is another one.
    static func origin(ofCredential credential: JSON) -> String? {
        guard
            let text = credential["response"]?["clientDataJSON"]?.string,
            text.utf8.count <= 16_384, let bytes = Base64URL.decode(text),
            let data = try? JSON.parse(bytes)
        else { return nil }
        return data["origin"]?.string
    }

    var signIn: Ceremony { Self.ceremony(of: tenant, party, account: nil, page: origin) }

    func enrollment(of account: UUID) -> Ceremony {
        Self.ceremony(of: tenant, party, account: account, page: origin)
    }

    /// Without a page, it is one that an answer came to of which nothing could be read.
    static func ceremony(
        of tenant: Tenant, _ party: PasskeyParty, account: UUID?, page: String? = nil
    ) -> Ceremony {
        Ceremony(
            kind: .tenant, client: tenant.apiKey, account: account, relyingParty: party.id,
            page: page)
    }
}

/// The ceremony that a page is in. It is sent to the routes of WebAuthn alone, and belongs to the site that
/// shows the page (CHIPS), as the refresh token does.
enum CeremonyCookie {
    static let name = "__Secure-urd-webauthn"

    static func line(_ ceremony: UUID) -> String {
        line(ceremony.description, seconds: Passkey.ceremonyLifetime)
    }

    static var removal: String { line("", seconds: 0) }

    private static func line(_ value: String, seconds: Int64) -> String {
        "\(name)=\(value); Path=\(ExchangeRoutes.prefix)/webauthn; Max-Age=\(seconds); "
            + "Secure; HttpOnly; SameSite=None; Partitioned"
    }
}

extension Call<RealmContext> {
    /// What a tenant's app is told that shows no access token of the person, or one of a sign-in long ago.
    static var needsSignIn: Problem {
        Problem(
            .forbidden,
            "This needs an access token of this very person (Authorization: Bearer), who signed in a "
                + "short while ago.")
    }

    /// The person whose access token came along, if they signed in a short while ago: a thief of a token
    /// must not make a way to stay.
    func recentUser(
        _ tenant: Tenant
    ) async throws(Problem) -> (account: UUID, session: SignedIn, token: Timestamp, id: UUID) {
        guard let own = try await ownSession(tenant), let account = own.session.terms.account
        else { throw Self.needsSignIn }
        let app = tenant.client.metadata.appID ?? own.session.terms.app
        let session = SignedIn(
            client: tenant.client.id, app: app, at: own.session.terms.signedInAt)
        let settings = try await RealmLookups(context).settings(ofApp: app)
        guard let settings, session.isTooOld(at: context.clock.now(), settings) == nil else {
            throw Self.needsSignIn
        }
        return (account, session, own.expiresAt, own.session.id)
    }
}
