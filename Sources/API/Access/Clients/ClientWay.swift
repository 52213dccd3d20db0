internal import HTTP
internal import Identity
internal import ReadModels

/// Who says to be a client, and what it shows.
struct ClientClaim: Sendable {
    let clientID: String
    let client: KnownClient
    let shown: ClientCredentials.Proof
    let request: Request
    /// Of the route that was called.
    let traits: RouteTraits
}

/// One way in which clients show that they are themselves. A new one is a case of `AuthenticationMethod`,
/// a file beside this one, and a line below.
protocol ClientWay: Sendable {
    /// Whether what a client was registered with a moment ago is good enough to look at.
    var mayBeOld: Bool { get }

    /// Nil where the client shows nothing of this kind, or nothing good.
    func proof(
        of claim: ClientClaim, in context: RealmContext
    ) async throws(Problem) -> ClientProof?
}

extension AuthenticationMethod {
    var way: any ClientWay {
        switch self {
        case .none: NoProof()
        case .secretBasic, .secretPost: SharedSecret()
        case .privateKeyJWT: SignedAssertion()
        case .selfSignedTLS: OwnCertificate()
        }
    }
}

/// A public client has no credentials: any that it shows are wrong.
struct NoProof: ClientWay {
    let mayBeOld = true

    func proof(
        of claim: ClientClaim, in context: RealmContext
    ) async throws(Problem) -> ClientProof? {
        claim.shown == .none ? ClientProof.none : nil
    }
}
