internal import Identity
internal import JSON
internal import Values

/// What a client wants of a person, once all of it was checked.
struct AuthorizationRequest: Equatable {
    enum Prompt: String, CaseIterable {
        case none, login, consent
        case selectAccount = "select_account"
    }

    /// The client's stream and its name.
    var client: UUID
    var clientID: String
    var target: AuthorizationTarget
    /// The request named the redirect URI itself.
    var namesRedirect = true
    var challenge: SecretDigest?
    var scope: [String] = []
    var resources: [String] = []
    var nonce: String?
    var prompts: Set<Prompt> = []
    var maximumAge: Int64?
    var loginHint: String?
    /// The subjects, as this client knows them, one of which must be signed in; empty: any user.
    var subjects: [String] = []
    /// Levels that a sign-in should have, one of them, and whether nothing else will do.
    var levels: [String] = []
    var needsLevel = false
    var idTokenClaims: [String] = []
    var userInfoClaims: [String] = []
    /// The languages that the person is said to like.
    var languages: String?
    /// The thumbprint of the key that the code is bound to (`dpop_jkt`).
    var key: String?
    /// The id of the pushed request, which can be granted once.
    var pushed: UUID?
    var askedAt: Timestamp
    /// The browser session at that time.
    var askedIn: UUID?
    /// The one in which its person agreed to it.
    var agreedIn: UUID?
    /// The request came by a form post without the session cookie: the session is not looked up
    /// yet.
    var isUnanswered = false

    init(client: UUID, clientID: String, target: AuthorizationTarget, askedAt: Timestamp) {
        self.client = client
        self.clientID = clientID
        self.target = target
        self.askedAt = askedAt
    }
}

extension AuthorizationRequest {
    /// What its person must agree to: the scope, and that of each claim that is asked for by name; and
    /// where tokens will be good.
    var toAgree: Agreement {
        let scope = (idTokenClaims + userInfoClaims).map(RequestedClaims.scope).reduce(into: scope)
        {
            if !$0.contains($1) { $0.append($1) }
        }
        return Agreement(scope: scope, resources: resources)
    }

    /// The destination that the consent page shows for a client whose identity is unverified.
    func shownPlace(of client: ClientMetadata) -> String? {
        client.isUnchecked ? target.place : nil
    }

    var json: JSON {
        var members: JSONObject = [
            "client": .string(client.description), "client_id": .string(clientID),
            "redirect": .string(target.redirectURI), "mode": .string(target.mode.rawValue),
            "profile": .string(target.profile.rawValue), "named": .bool(namesRedirect),
            "at": .integer(askedAt.seconds),
        ]
        members["state"] = target.state.map { .string($0) }
        members["challenge"] = challenge.map { .string(Base64URL.encode($0.bytes)) }
        members["nonce"] = nonce.map { .string($0) }
        members["age"] = maximumAge.map { .integer($0) }
        members["hint"] = loginHint.map { .string($0) }
        members["key"] = key.map { .string($0) }
        members["languages"] = languages.map { .string($0) }
        members["pushed"] = pushed.map { .string($0.description) }
        members["in"] = askedIn.map { .string($0.description) }
        members["agreed"] = agreedIn.map { .string($0.description) }
        if needsLevel { members["strict"] = true }
        if isUnanswered { members["unanswered"] = true }
        for (name, list) in lists where !list.isEmpty {
            members[name] = .array(list.map { .string($0) })
        }
        return .object(members)
    }

    private var lists: [(String, [String])] {
        [
            ("scope", scope), ("resources", resources), ("levels", levels),
            ("prompts", prompts.map(\.rawValue).sorted()), ("id_token", idTokenClaims),
            ("userinfo", userInfoClaims), ("sub", subjects),
        ]
    }

    init?(_ json: JSON) {
        func texts(_ name: String) -> [String] { json[name]?.array?.compactMap(\.string) ?? [] }
        func id(_ name: String) -> UUID? { json[name]?.string.flatMap { UUID($0) } }
        guard let client = id("client"), let clientID = json["client_id"]?.string,
            let redirect = json["redirect"]?.string,
            let mode = json["mode"]?.string.flatMap(ResponseMode.init),
            let profile = json["profile"]?.string.flatMap(ClientProfile.init),
            let at = json["at"]?.integer
        else { return nil }
        self.init(
            client: client, clientID: clientID,
            target: AuthorizationTarget(
                redirectURI: redirect, mode: mode, state: json["state"]?.string,
                profile: profile), askedAt: Timestamp(seconds: at))
        namesRedirect = json["named"]?.bool ?? true
        challenge = json["challenge"]?.string.flatMap { Base64URL.decode($0) }
            .flatMap { SecretDigest($0) }
        scope = texts("scope")
        resources = texts("resources")
        levels = texts("levels")
        needsLevel = json["strict"]?.bool ?? false
        prompts = Set(texts("prompts").compactMap(Prompt.init))
        idTokenClaims = texts("id_token")
        userInfoClaims = texts("userinfo")
        nonce = json["nonce"]?.string
        maximumAge = json["age"]?.integer
        loginHint = json["hint"]?.string
        subjects = texts("sub")
        languages = json["languages"]?.string
        key = json["key"]?.string
        pushed = id("pushed")
        askedIn = id("in")
        agreedIn = id("agreed")
        isUnanswered = json["unanswered"]?.bool ?? false
    }
}
