internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import Values

/// A statement that the client has signed (`private_key_jwt`), verified here and nowhere else: of the keys
/// for it nothing old is good enough.
struct SignedAssertion: ClientWay {
    let mayBeOld = false

    private static let asking = [DeviceRoutes.path, DeviceRoutes.longPath]

    private static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    func proof(
        of claim: ClientClaim, in context: RealmContext
    ) async throws(Problem) -> ClientProof? {
        guard case .assertion(let type, let text) = claim.shown else { return nil }
        guard type == Self.type else {
            throw Problem(.invalidClient, "There is no such type of assertion here.")
        }
        let metadata = claim.client.metadata
        guard let source = KeySource(metadata.jwks, metadata.jwksURI) else { return nil }
        let rules = rules(for: metadata, in: context)
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
            return nil
        }
        let used = UsedAssertion(id: assertion.id, until: rules.lastUse(of: assertion))
        // What is granted uses the assertion up in the same breath, so that a failure in between costs
        // nobody one. Elsewhere it is used up here: in the log, so that every node knows of it.
        let path = claim.request.path
        if !TokenRoutes.grants(path), !Self.asking.contains(path) {
            try await context.use(used, of: claim.clientID)
        }
        return .assertion(used)
    }

    /// For the issuer and nobody else: an assertion that names an address could have been asked for
    /// by another server that gave out that address as its own.
    private func rules(
        for client: ClientMetadata, in context: RealmContext
    ) -> ClientAssertion.Rules {
        let place = context.place
        var audiences: Set<String> = [place.issuer]
        if client.assertsForTokenURL || place.settings[SettingCatalogue.assertionForTokenURL] {
            audiences.insert(place.issuer + TokenRoutes.tokenPath)
        }
        return ClientAssertion.Rules(audiences: audiences, longestLifetime: 300)
    }
}

extension RealmContext {
    fileprivate func use(
        _ assertion: UsedAssertion, of clientID: String
    ) async throws(Problem) {
        let result = try await commands.tried(
            UseAssertion(assertion, by: clientID), in: place.realm, id: newID(),
            by: Origin(actor: "client:\(clientID)", client: clientID, at: clock.now()))
        if case .failure = result { throw GrantRefusal.usedAssertion.problem }
    }
}
