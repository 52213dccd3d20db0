/// For whom keys are registered, and from where they may be used.
public struct RelyingParty: Sendable {
    /// A domain, as the authenticator hashes it.
    public let id: String
    /// `scheme://host` with the port where it is not the scheme's own, or
    /// `android:apk-key-hash:…`: compared whole and byte by byte, never by host alone.
    public let origins: Set<String>
    /// Whether a page of another origin may have our page in a frame during the ceremony.
    public let allowsCrossOrigin: Bool
    /// Whose frames we may be in, as far as the browser says so.
    public let topOrigins: Set<String>

    public init(
        id: String, origins: Set<String>, allowsCrossOrigin: Bool = false,
        topOrigins: Set<String> = []
    ) {
        self.id = id
        self.origins = origins
        self.allowsCrossOrigin = allowsCrossOrigin
        self.topOrigins = topOrigins
    }

    /// Swift finds two spellings of a letter equal; an origin has one.
    static func contains(_ origins: Set<String>, _ origin: String) -> Bool {
        origins.contains { $0.utf8.elementsEqual(origin.utf8) }
    }
}
