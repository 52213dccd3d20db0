/// How a client shows at the token endpoint that it is itself. The adapter has verified what takes
/// cryptography; the decision compares it with what the client was registered with.
public enum ClientProof: Equatable, Sendable {
    /// Nothing: good enough for a public client only.
    case none
    case secret(SecretDigest)
    /// A signed assertion that verified under one of the client's own keys.
    case assertion(UsedAssertion)
    /// A certificate that the client has registered.
    case certificate
}

extension ClientProof {
    /// Whether this is the proof that a client registered to give, and a good one. A secret is as good in
    /// the header as in the form: both were shown to this server alone (RFC 6749 section 2.3.1).
    public func isGood(for method: AuthenticationMethod, _ secret: SecretDigest?) -> Bool {
        switch (method, self) {
        case (.none, .none), (.privateKeyJWT, .assertion), (.selfSignedTLS, .certificate): true
        case (.secretBasic, .secret(let digest)), (.secretPost, .secret(let digest)):
            // Of random digests it tells nothing how long a comparison takes.
            secret == digest
        default: false
        }
    }
}
