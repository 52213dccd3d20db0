internal import EventSourcing
internal import JOSE
internal import JSON
internal import Values

/// The claims of an ID token that came back as a hint. It may have expired: it signs no user in.
struct HintedSignIn {
    let clientID: String
    let subject: String
    /// The session of the `id_token_hint`.
    let session: UUID?
}

extension RealmContext {
    /// Nil unless this realm signed it for one of its clients, as an ID token and as nothing else: signed user
    /// info had the same `typ` once, and none of the claims that an ID token must have.
    func hinted(_ text: String) async throws(Problem) -> HintedSignIn? {
        let keys = try await reading { () throws(LogFailure) in
            try await self.keys.keys(of: place.realm).set
        }
        guard let verified = try? JWS.verify(text, by: keys, rules: JWS.Rules(types: .ownIDToken)),
            let claims = try? Claims(payload: verified.payload),
            claims.issuer?.utf8.elementsEqual(place.issuer.utf8) == true,
            let subject = claims.subject, let audience = claims.audience, audience.count == 1,
            let client = audience.first, claims.issuedAt != nil, claims.expiresAt != nil,
            claims.members["azp"] == .string(client)
        else { return nil }
        return HintedSignIn(
            clientID: client, subject: subject,
            session: claims.members["sid"]?.string.flatMap { UUID($0) })
    }
}
