internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import ReadModels
internal import Values

/// A statement that the client has signed (`private_key_jwt`), verified here and nowhere else: of the keys
/// for it nothing old is good enough.
struct SignedAssertion: ClientWay {
    let mayBeOld = false

    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    func proof(
        of claim: ClientClaim, in context: RealmContext
    ) async throws(Problem) -> ClientProof? {
        guard case .assertion(_, let text) = claim.shown else { return nil }
        let metadata = claim.client.metadata
        guard let source = KeySource(metadata.jwks, metadata.jwksURI) else { return nil }
        let rules = context.assertionRules(for: metadata)
        let now = context.clock.now()
        let assertion: ClientAssertion
        do throws(TokenRejection) {
            assertion = try await context.remoteKeys.check(source) {
                keys throws(TokenRejection) in
                try ClientAssertion.check(
                    text, of: claim.clientID, keys: keys,
                    algorithms: ClientKeys.known, rules: rules, at: now)
            }
        } catch {
            // What is wrong with it is for its signer to hear: to everybody else it is like any other.
            guard let fault = context.sentence(for: error, rules) else { return nil }
            throw Problem(.invalidClient, fault)
        }
        let used = UsedAssertion(id: assertion.id, until: rules.lastUse(of: assertion))
        // The grant's own commit uses the single-use assertion up, so that a failure in between
        // costs the client none. Elsewhere it is used up here: in the log, so that every node knows
        // of it.
        if !claim.traits.contains(.consumesAssertion) {
            try await context.use(used, of: claim.clientID)
        }
        return .assertion(used)
    }
}

/// What a client assertion has to be, and what is said of one that isn't.
extension RealmContext {
    /// By default the audience is the issuer alone: an assertion that names an address could have
    /// been asked for by another server that gave out that address as its own.
    fileprivate func assertionRules(for client: ClientMetadata) -> ClientAssertion.Rules {
        var audiences: Set<String> = [place.issuer]
        if client.assertsForTokenURL || place.settings[SettingCatalogue.assertionForTokenURL] {
            audiences.insert(place.issuer + Place.tokenPath)
        }
        return ClientAssertion.Rules(audiences: audiences)
    }

    /// The same for every assertion that did not verify, and so for clients that there are not.
    var wantedAssertion: String {
        let endpoint =
            place.settings[SettingCatalogue.assertionForTokenURL]
            ? " or \(place.issuer)\(Place.tokenPath)" : ""
        return
            "A client assertion is signed by a key that the client registered, with iss and sub its "
            + "client_id, aud \(place.issuer)\(endpoint) alone, a jti of its own, and exp within the hour."
    }

    /// Nil where no signature was verified.
    fileprivate func sentence(
        for rejection: TokenRejection, _ rules: ClientAssertion.Rules
    ) -> String? {
        switch rejection {
        case .tooLarge, .malformed, .algorithmNotAllowed, .unsupportedHeader, .wrongType,
            .unknownKey, .badSignature:
            nil
        case .wrongAudience:
            "The assertion must name \(rules.audiences.sorted().joined(separator: " or ")) as its "
                + "only audience. For the token endpoint's address see "
                + "client_assertion_for_token_url."
        case .wrongIssuer, .wrongSubject, .wrongClient:
            "iss and sub of the assertion must be the client_id."
        case .expired:
            "The assertion is over: it can be used for \(rules.longestUse) seconds from its iat, "
                + "and not after its exp."
        case .notYetValid, .issuedInTheFuture:
            "The assertion is from the future: nbf or iat is more than \(rules.leeway) seconds "
                + "ahead of this server's clock."
        case .unreasonableLifetime:
            "The assertion lives too long: \(rules.longestLifetime) seconds from its iat at most, "
                + "\(rules.longestUse) without one."
        case .missing(let name): "The assertion has no \(name.rawValue)."
        case .malformedClaim(let name): "The assertion's \(name.rawValue) is malformed."
        case .wrongNonce, .wrongAccessTokenHash: "The assertion says what it must not say."
        }
    }

    fileprivate func use(
        _ assertion: UsedAssertion, of clientID: String
    ) async throws(Problem) {
        let result = try await commands.attempt(
            UseAssertion(assertion, by: clientID), in: place.realm, id: newID(),
            by: Origin(actor: "client:\(clientID)", client: clientID, at: clock.now()))
        if case .failure = result { throw GrantRefusal.usedAssertion.problem }
    }
}
