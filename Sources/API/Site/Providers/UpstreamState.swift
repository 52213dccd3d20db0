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

extension TokenMint {
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
