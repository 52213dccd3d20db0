internal import Cryptography
internal import Identity

/// A secret, in the header or in the body, whichever of the two was registered: libraries choose one for
/// themselves, and some another one for introspection. The decision compares it.
struct SharedSecret: ClientWay {
    let mayBeOld = true

    func proof(
        of claim: ClientClaim, in context: RealmContext
    ) async throws(Problem) -> ClientProof? {
        switch claim.shown {
        case .basic(let secret), .post(let secret): try proven(secret)
        case .none, .assertion: nil
        }
    }

    private func proven(
        _ secret: String
    ) throws(Problem) -> ClientProof {
        guard let digest = SecretDigest(SHA256.hash(Array(secret.utf8))) else {
            throw Problem(.internalError)
        }
        return .secret(digest)
    }
}
