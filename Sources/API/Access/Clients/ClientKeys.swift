internal import JOSE

/// How clients may sign that they are themselves.
enum ClientKeys {
    /// In the order of our liking. No shared secret is among them: a digest of one is all that Urd has.
    static let algorithms: [Algorithm] = [.es256, .edDSA, .ed25519, .ps256, .rs256, .es384]
    static let known = Set(algorithms)
}
