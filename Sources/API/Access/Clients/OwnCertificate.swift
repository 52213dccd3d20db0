internal import Cryptography
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// A certificate that the client has registered and shows in TLS (RFC 8705 section 2.2), as a proxy that is
/// trusted tells it. Who signed the certificate does not matter: that it is this one does.
struct OwnCertificate: ClientWay {
    let mayBeOld = false

    func proof(
        of claim: ClientClaim, in context: RealmContext
    ) async throws(Problem) -> ClientProof? {
        guard claim.shown == .none, let shown = context.place.certificate else { return nil }
        let keys = claim.client.metadata.jwks?["keys"]?.array ?? []
        let isRegistered = keys.contains { key in
            guard let text = key["x5c"]?.array?.first?.string, let der = Base64.decode(text) else {
                return false
            }
            return CertificateThumbprint(der: der) == shown
        }
        return isRegistered ? .certificate : nil
    }
}
