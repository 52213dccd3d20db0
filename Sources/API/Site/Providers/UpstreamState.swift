internal import Cryptography
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// A pending sign-in at a provider, as the user's browser keeps it until they come back: so an
/// answer that was meant for another browser signs no user in.
struct PendingUpstream: Sendable {
    static let lifetime: Int64 = 900

    /// What state, nonce and verifier follow from.
    let id: UUID
    let provider: String
    /// As it was when the user was sent there.
    let issuer: String
    let redirect: String
    let returnTarget: ReturnTarget
    /// Where to go on to in a realm of the flagship profile.
    let place: String?
    /// The browser session to whose account the identity at the provider is to be linked.
    let links: UUID?

    var json: JSON {
        var members: JSONObject = [
            "id": .string(id.description), "provider": .string(provider),
            "issuer": .string(issuer), "redirect": .string(redirect),
        ]
        members["continue"] = returnTarget.sealed.map { .string($0) }
        members["next"] = returnTarget.path.map { .string($0.text) }
        members["place"] = place.map { .string($0) }
        members["links"] = links.map { .string($0.description) }
        return .object(members)
    }

    init(
        id: UUID, provider: Provider, redirect: String, returnTarget: ReturnTarget, place: String?,
        links: UUID?
    ) {
        self.id = id
        self.provider = provider.slug
        issuer = provider.issuer
        self.redirect = redirect
        self.returnTarget = returnTarget
        self.place = place
        self.links = links
    }

    init?(_ json: JSON) {
        guard let id = json["id"]?.string.flatMap({ UUID($0) }),
            let provider = json["provider"]?.string, let issuer = json["issuer"]?.string,
            let redirect = json["redirect"]?.string
        else { return nil }
        self.id = id
        self.provider = provider
        self.issuer = issuer
        self.redirect = redirect
        returnTarget = ReturnTarget(sealed: json["continue"]?.string, path: json["next"]?.string)
        place = json["place"]?.string
        links = json["links"]?.string.flatMap { UUID($0) }
    }
}

/// A user whom a provider has named, and who has to show a second factor.
struct UpstreamStep: Sendable {
    static let lifetime: Int64 = 300

    let identity: UUID
    let upstream: UUID?
    let provider: String
    let place: String
    /// The mailed code that is asked for, if one is.
    let code: UUID?
    /// The form that it was shown in.
    let form: String
    let until: Timestamp

    var json: JSON {
        var members: JSONObject = [
            "identity": .string(identity.description), "provider": .string(provider),
            "place": .string(place), "form": .string(form), "until": .integer(until.seconds),
        ]
        members["upstream"] = upstream.map { .string($0.description) }
        members["code"] = code.map { .string($0.description) }
        return .object(members)
    }

    init(
        identity: UUID, upstream: UUID?, provider: String, place: String, code: UUID?,
        form: String, until: Timestamp
    ) {
        self.identity = identity
        self.upstream = upstream
        self.provider = provider
        self.place = place
        self.code = code
        self.form = form
        self.until = until
    }

    init?(_ json: JSON) {
        guard let identity = json["identity"]?.string.flatMap({ UUID($0) }),
            let provider = json["provider"]?.string, let place = json["place"]?.string,
            let form = json["form"]?.string, let until = json["until"]?.integer
        else { return nil }
        self.init(
            identity: identity, upstream: json["upstream"]?.string.flatMap { UUID($0) },
            provider: provider, place: place, code: json["code"]?.string.flatMap { UUID($0) },
            form: form, until: Timestamp(seconds: until))
    }
}

extension TokenMint {
    /// The stream of an identity at a provider. Neither part can run into the other.
    func identity(_ subject: String, at issuer: String) -> UUID {
        .v8(derive(.providerIdentity, SHA256.hash(Array(issuer.utf8)) + Array(subject.utf8)))
    }

    /// The stream of a provider's session.
    func upstreamSession(_ name: String, at issuer: String) -> UUID {
        .v8(derive(.providerSession, SHA256.hash(Array(issuer.utf8)) + Array(name.utf8)))
    }

    /// The stream of who an account is at a provider.
    func accountIdentity(_ account: UUID, at provider: String) -> UUID {
        .v8(derive(.accountIdentity, account.bytes + Array(provider.utf8)))
    }

    /// The stream of what a provider signed for an app.
    func use(ofToken text: String) -> UUID {
        .v8(derive(.providerToken, Array(text.utf8)))
    }

    func upstreamState(_ id: UUID) -> String { Base64URL.encode(derive(.upstreamState, id.bytes)) }

    func upstreamNonce(_ id: UUID) -> String { Base64URL.encode(derive(.upstreamNonce, id.bytes)) }

    func upstreamVerifier(_ id: UUID) -> String {
        Base64URL.encode(derive(.upstreamVerifier, id.bytes))
    }

    /// The mint whose verifier and nonce went out together with a state.
    func version(ofUpstreamState text: String, _ id: UUID) -> TokenMint? {
        version { constantTimeEqual(Array(text.utf8), Array($0.upstreamState(id).utf8)) }
    }
}
