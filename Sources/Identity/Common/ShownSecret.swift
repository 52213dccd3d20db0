/// A presented secret: its digest under each key that the log may have kept its digest under.
public struct ShownSecret: Equatable, Sendable {
    private let digests: [SecretDigest]

    public init(_ digests: [SecretDigest]) {
        self.digests = digests
    }

    /// Whether it is the secret of which this was kept. Of random digests it tells nothing how long a
    /// comparison takes.
    public func matches(_ kept: SecretDigest) -> Bool { digests.contains(kept) }
}
