internal import EventSourcing
internal import JOSE
internal import JSON
internal import Values

/// What an ID token says that came back as a hint. It may have expired: it lets nobody in.
struct HintedSignIn {
    let clientID: String
    let subject: String
    /// The sign-in that it was given for.
    let session: UUID?
}

extension RealmContext {
    /// Nil unless this realm signed it for one of its clients.
    func hinted(_ text: String) async throws(Problem) -> HintedSignIn? {
        let keys = try await reading { () throws(LogFailure) in
            try await self.keys.keys(of: place.realm).set
        }
        guard let verified = try? JWS.verify(text, by: keys, rules: JWS.Rules(types: .idToken)),
            let claims = try? Claims(payload: verified.payload),
            claims.issuer?.utf8.elementsEqual(place.issuer.utf8) == true,
            let subject = claims.subject, let audience = claims.audience, audience.count == 1,
            let client = audience.first
        else { return nil }
        return HintedSignIn(
            clientID: client, subject: subject,
            session: claims.members["sid"]?.string.flatMap { UUID($0) })
    }
}
