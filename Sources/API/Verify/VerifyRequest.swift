internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What an app asks of the page for tenants: whose address is to be proved, how, and where the answer goes.
struct VerifyRequest: Sendable {
    enum Kind: String, CaseIterable {
        case email = "EMAIL"
        case phone = "PHONE"

        /// Of the code and its session, so that a person with both is known by the one that was asked for.
        var scope: String { self == .phone ? "phone" : "email" }
    }

    enum Method: String, CaseIterable {
        case code = "OTP"
        case link = "MAGIC_LINK"
    }

    let tenant: Tenant
    let redirect: String
    let kind: Kind
    let method: Method
    let challenge: SecretDigest
    let state: String
    /// What the app knows of the person already, to begin with.
    let input: String
    /// By what codes may go to a phone, as the app and the realm have it: the first one first.
    let channels: [Channel]
    /// The person whose address must be verified; nil for any person.
    let person: UUID?
    /// A code is sent to what the app knows without asking for the address.
    let isDirect: Bool
    /// The person does not want to go on as who they are in this browser.
    let asOther: Bool
    /// The same request in the address of another page.
    fileprivate let query: String

    /// What is sealed for this tenant in this browser is good nowhere else.
    func binding(_ visit: PageVisit) -> String { "\(visit.formName) \(tenant.apiKey)" }

    static let parameters: [Parameter] =
        [
            Parameter("api_key", in: .query, .text(0...255), "API key of the tenant."),
            Parameter("redirect_url", in: .query, .text(0...2048), "Redirect URL of the response."),
            Parameter("type", in: .query, .text(0...20), "Type of address: EMAIL or PHONE."),
            Parameter(
                "auth_method", in: .query, .text(0...20),
                "Authentication method: OTP or MAGIC_LINK."),
            Parameter(
                "code_challenge", in: .query, .text(0...200),
                "PKCE code challenge: SHA-256 of the verifier."),
            Parameter("state", in: .query, .text(0...2048), "Value that is returned unchanged."),
            Parameter(
                "input", in: .query, .text(0...320), "Mail address or phone number, if it is known."
            ),
            Parameter(
                "identifier", in: .query, .text(0...320),
                "Mail address or phone number, under its other name."),
            Parameter(
                "use_channel", in: .query, .text(0...20),
                "Channel of a code to a phone: SMS or WHATSAPP."), phoneChannels,
            Parameter("domain", in: .query, .text(0...2048), "Origin of the calling page."),
            Parameter(
                "other", in: .query, .text(0...5),
                "Whether to continue with another person than the recognised one."),
        ] + AskedPerson.parameters

    static let phoneChannels = Parameter(
        "phone_channels[]", in: .query, .list(of: .text(0...20), 0...4),
        "Channels that are offered for codes to phones: SMS, WHATSAPP, or both.")

    func path(_ path: String, _ more: [(String, String)] = []) -> String {
        more.reduce(into: "\(path)?\(query)") { address, member in
            address += "&\(Percent.encode(member.0))=\(Percent.encode(member.1))"
        }
    }

    /// The redirect URL with these members: also of a scheme without a slash, and of one without anything
    /// behind its slashes.
    func answer(_ members: [(String, String)]) -> String {
        let query = (members + [("state", state)])
            .map { "\(Percent.encode($0.0))=\(Percent.encode($0.1))" }.joined(separator: "&")
        return TenantPlace.adding(query, to: redirect)
    }
}

extension Call<RealmContext> {
    /// Throws, in words for the app's developer, what is wrong with the request of a page for tenants.
    func verifyRequest() async throws(Problem) -> VerifyRequest {
        let tenant = try await queriedTenant()
        let redirect = text("redirect_url") ?? ""
        guard let place = TenantPlace(redirect), place.isAllowed(by: tenant.places) else {
            throw notAllowed(redirect, tenant)
        }
        try TenantRedirect.check(redirect, for: TenantRedirect.ofCodes)
        let kind = try queriedKind()
        let way = text("auth_method").flatMap { $0.isEmpty ? nil : $0 }
        guard let method = VerifyRequest.Method(rawValue: way ?? "OTP") else {
            throw Problem(.invalidRequest, "auth_method must be OTP or MAGIC_LINK.")
        }
        let challenge = try queriedChallenge("code_challenge")
        guard let state = text("state"), !state.isEmpty else {
            throw Problem(.invalidRequest, "state is required.")
        }
        var query = [
            (name: "api_key", value: tenant.apiKey), ("redirect_url", redirect),
            ("type", kind.rawValue), ("auth_method", method.rawValue),
            ("code_challenge", Base64URL.encode(challenge.bytes)),
            ("state", state),
        ]
        let input = text("input") ?? text("identifier") ?? ""
        if !input.isEmpty { query.append(("input", input)) }
        let wanted = text("use_channel").flatMap { Channel(rawValue: $0.lowercased()) }
        if let wanted { query.append(("use_channel", wanted.rawValue.uppercased())) }
        let offered = queriedChannels()
        if kind == .phone, !(parameters["phone_channels[]"]?.array ?? []).isEmpty {
            query += offered.map { ("phone_channels[]", $0.rawValue.uppercased()) }
        }
        let asOther = text("other") == "true"
        let person = try queriedPerson()
        if let person { query.append(("cotter_user_id", person.description)) }
        try checkField(kind)
        let isDirect = try queriedDirectLogin()
        guard !isDirect || verifiable(trimmed(input), kind) != nil else {
            throw Problem(
                .invalidRequest,
                "direct_login needs an input that is an address of the type \(kind.rawValue).")
        }
        return VerifyRequest(
            tenant: tenant, redirect: redirect, kind: kind, method: method, challenge: challenge,
            state: state, input: input,
            channels: offered.filter { wanted == nil || $0 == wanted },
            person: person, isDirect: isDirect && !asOther, asOther: asOther,
            query: query.map { "\(Percent.encode($0.0))=\(Percent.encode($0.1))" }.joined(
                separator: "&"))
    }

    /// What a developer has to add to the list, and who asked.
    func notAllowed(_ redirect: String, _ tenant: Tenant) -> Problem {
        let referrer = request.headers["Referer"].flatMap { TenantPlace($0)?.webOrigin }
        let origin = text("domain").flatMap { TenantPlace($0)?.webOrigin } ?? referrer
        return Problem(
            .invalidRequest,
            "The redirect URL \(redirect.isEmpty ? "(none)" : String(redirect.prefix(400))), asked for "
                + "from the origin \(origin ?? "(unknown)"), is not allowed for this tenant. Its "
                + "client's redirect_uris list what is.")
    }
}

/// What the page and the frame are asked with alike.
extension Call<RealmContext> {
    /// The tenant that the address of a page names.
    func queriedTenant() async throws(Problem) -> Tenant {
        do throws(Problem) {
            return try await tenant(text("api_key"))
        } catch {
            guard error.kind == .forbidden else { throw error }
            throw Problem(
                .invalidRequest, "The api_key is not valid: there is no such tenant here.")
        }
    }

    func queriedKind() throws(Problem) -> VerifyRequest.Kind {
        guard let kind = text("type").flatMap(VerifyRequest.Kind.init) else {
            throw Problem(.invalidRequest, "type must be EMAIL or PHONE.")
        }
        if kind == .phone, !context.place.settings[SettingCatalogue.phoneSignIn] {
            throw Problem(.invalidRequest, "This realm takes no phone numbers (phone_sign_in).")
        }
        return kind
    }

    /// By what codes go to phones: what the realm has, as far as the tenant's app wants it. One that wants none
    /// of the channels gets all.
    func queriedChannels() -> [Channel] {
        let all = context.place.settings[SettingCatalogue.phoneChannels].compactMap(Channel.init)
        let wanted = (parameters["phone_channels[]"]?.array ?? []).compactMap {
            $0.string.flatMap { Channel(rawValue: $0.lowercased()) }
        }
        let offered = all.filter(wanted.contains)
        return offered.isEmpty ? all : offered
    }

    func queriedChallenge(_ name: String) throws(Problem) -> SecretDigest {
        guard let shown = text(name), shown.utf8.count == 43,
            let challenge = Base64URL.decode(shown).flatMap({ SecretDigest($0) })
        else {
            throw Problem(
                .invalidRequest,
                "\(name) must be the SHA-256 of the verifier, base64url without padding.")
        }
        return challenge
    }
}
