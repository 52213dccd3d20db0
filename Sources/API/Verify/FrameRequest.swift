internal import EventSourcing
internal import HTTP
internal import Identity
internal import ReadModels
internal import Values

/// What a tenant's page asks of the page in its frame. Nothing here depends on a cookie: browsers do not send
/// one to a frame of another site.
struct FrameRequest: Sendable {
    let tenant: Tenant
    /// Of the page that shows the frame, and that alone is told of the code.
    let origin: String
    let kind: VerifyRequest.Kind
    let challenge: SecretDigest
    let state: String
    let channels: [Channel]
    /// The person whose address must be verified; nil for any person.
    let person: UUID?
    /// As the page named it; nil where it named none.
    let redirect: String?

    static let path = "/signup"
    static let sendPath = "/signup/send"
    static let checkPath = "/signup/check"
    static let waitPath = "/signup/wait"

    static let parameters: [Parameter] =
        [
            Parameter("api_key", in: .query, .text(0...255), "API key of the tenant."),
            Parameter("domain", in: .query, .text(0...2048), "Origin of the embedding page."),
            Parameter("type", in: .query, .text(0...20), "Type of address: EMAIL or PHONE."),
            Parameter(
                "challenge", in: .query, .text(0...200),
                "PKCE code challenge: SHA-256 of the verifier."),
            Parameter(
                "code_challenge", in: .query, .text(0...200),
                "PKCE code challenge, under its standard name."),
            Parameter("state", in: .query, .text(0...2048), "Value that is returned unchanged."),
            Parameter(
                "redirect_url", in: .query, .text(0...2048),
                "Redirect URL that the code is redeemed with."),
            Parameter(
                "input", in: .query, .text(0...320), "Mail address or phone number, if it is known."
            ),
            VerifyRequest.phoneChannels,
        ] + AskedPerson.parameters

    /// What binds a sealed address to this frame and its tenant.
    var form: String { "frame \(Base64URL.encode(challenge.bytes)) \(tenant.apiKey)" }

    /// What the page redeems the code with: its origin, unless it has another address for that.
    func target(skips: Bool) -> String { skips ? origin : redirect ?? origin }
}

extension Call<RealmContext> {
    /// Throws, in words for the page's developer, what is wrong with the request.
    func frameRequest() async throws(Problem) -> FrameRequest {
        let tenant = try await queriedTenant()
        let origin = try framingOrigin(of: tenant)
        let kind = try queriedKind()
        let other = "code_challenge"
        let challenge = try queriedChallenge(
            text("challenge") == nil && text(other) != nil ? other : "challenge")
        guard let state = text("state"), !state.isEmpty else {
            throw Problem(.invalidRequest, "state is required.")
        }
        let redirect = text("redirect_url").flatMap {
            AskedPerson.isNothing($0) ? nil : Self.decodedOnceMore($0)
        }
        if let redirect {
            guard let place = TenantPlace(redirect), place.isAllowed(by: tenant.places) else {
                throw Problem(
                    .invalidRequest,
                    "The redirect URL \(redirect.prefix(400)), asked for from the origin \(origin), is not "
                        + "allowed for this tenant.")
            }
            try TenantRedirect.check(redirect, for: TenantRedirect.ofCodes)
        }
        try checkField(kind)
        // Its address may come from the page around it, by a message.
        _ = try queriedDirectLogin()
        return FrameRequest(
            tenant: tenant, origin: origin, kind: kind, challenge: challenge, state: state,
            channels: queriedChannels(), person: try queriedPerson(), redirect: redirect)
    }

    /// Of the page that shows a frame. Throws where the tenant does not list it.
    func framingOrigin(of tenant: Tenant) throws(Problem) -> String {
        let domain = text("domain") ?? ""
        guard let place = TenantPlace(domain), place.isAllowedOrigin(by: tenant.places),
            let origin = place.webOrigin, origin == domain
        else {
            throw Problem(
                .invalidRequest,
                "The origin \(domain.isEmpty ? "(none)" : String(domain.prefix(400))) is not allowed for "
                    + "this tenant, with the redirect URL \((text("redirect_url") ?? "(none)").prefix(400))."
            )
        }
        return origin
    }

    /// An address that a script has encoded once more than addresses are, as the profile's own does it for links.
    private static func decodedOnceMore(_ text: String) -> String {
        guard TenantPlace(text) == nil, let decoded = Percent.decode(text),
            TenantPlace(decoded) != nil
        else { return text }
        return decoded
    }
}
