internal import HTTP
internal import Identity
internal import JOSE

/// A statement that the client has signed (`private_key_jwt`), verified here and nowhere else: of the keys
/// for it nothing old is good enough.
struct SignedAssertion: ClientWay {
    let mayBeOld = false

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
                    algorithms: Set(ClientKeys.algorithms), rules: rules, at: now)
            }
        } catch {
            return nil
        }
        let used = UsedAssertion(id: assertion.id, until: rules.lastUse(of: assertion))
        // The token endpoint takes the assertion by a claim in the log, together with what it grants,
        // so that a repeat finds it taken on every node. The others put nothing on record.
        let isRemembered = claim.request.path != TokenRoutes.tokenPath
        guard
            context.assertions.isNew(
                used, of: claim.clientID, in: context.place.realm, remember: isRemembered)
        else { throw GrantRefusal.usedAssertion.problem }
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
