internal import Cryptography
internal import Identity

/// A secret, in the header or in the body: where it was registered to be. The decision compares it.
struct SharedSecret: ClientWay {
    let mayBeOld = true

    func proof(
        of claim: ClientClaim, in context: RealmContext
    ) async throws(Problem) -> ClientProof? {
        switch claim.shown {
        case .basic(let secret): try proven(secret, by: .secretBasic)
        case .post(let secret): try proven(secret, by: .secretPost)
        case .none, .assertion: nil
        }
    }

    private func proven(
        _ secret: String, by method: AuthenticationMethod
    ) throws(Problem) -> ClientProof {
        guard let digest = SecretDigest(SHA256.hash(Array(secret.utf8))) else {
            throw Problem(.internalError)
        }
        return .secret(digest, by: method)
    }
}
