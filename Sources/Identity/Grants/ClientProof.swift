/// How a client shows at the token endpoint that it is itself. The adapter has verified what takes
/// cryptography; the decision compares it with what the client was registered with.
public enum ClientProof: Equatable, Sendable {
    /// Nothing: good enough for a public client only.
    case none
    case secret(SecretDigest, by: AuthenticationMethod)
    /// A signed assertion that verified under one of the client's own keys.
    case assertion
}

extension Client {
    /// Whether this proof is the one that the client registered, and a good one.
    func accepts(_ proof: ClientProof) -> Bool {
        switch (metadata?.authenticationMethod, proof) {
        case (AuthenticationMethod.none?, .none): true
        case (.privateKeyJWT?, .assertion): true
        case (.secretBasic?, .secret(let digest, .secretBasic)),
            (.secretPost?, .secret(let digest, .secretPost)):
            // Of random digests it tells nothing how long a comparison takes.
            secret == digest
        default: false
        }
    }
}
