/// For whom keys are registered, and from where they may be used.
public struct RelyingParty: Sendable {
    /// A domain, as the authenticator hashes it.
    public let id: String
    /// `scheme://host` with the port where it is not the scheme's own, or
    /// `android:apk-key-hash:…`: compared whole and byte by byte, never by host alone.
    public let origins: Set<String>
    /// Whether pages of `https` sub-domains of the id, at the usual port, may use them as well.
    public let allowsSubdomains: Bool
    /// Whether pages of this machine may, at any port and without TLS: for an id of `localhost`.
    public let allowsLocalPorts: Bool
    /// Whether a page of another origin may have our page in a frame during the ceremony.
    public let allowsCrossOrigin: Bool
    /// Whose frames we may be in, as far as the browser says so.
    public let topOrigins: Set<String>

    public init(
        id: String, origins: Set<String>, allowsSubdomains: Bool = false,
        allowsLocalPorts: Bool = false, allowsCrossOrigin: Bool = false,
        topOrigins: Set<String> = []
    ) {
        self.id = id
        self.origins = origins
        self.allowsSubdomains = allowsSubdomains
        self.allowsLocalPorts = allowsLocalPorts
        self.allowsCrossOrigin = allowsCrossOrigin
        self.topOrigins = topOrigins
    }

    /// Where the ceremony may take place.
    public func accepts(_ origin: String) -> Bool {
        RelyingParty.contains(origins, origin) || allowsSubdomains && isSubdomain(origin)
            || allowsLocalPorts && id == "localhost" && RelyingParty.isLocal(origin)
    }

    /// Labels as browsers spell them: nothing else can stand between the scheme and our domain,
    /// and nothing at all behind it.
    private func isSubdomain(_ origin: String) -> Bool {
        let (scheme, parent) = (Array("https://".utf8), Array(".\(id)".utf8))
        let bytes = Array(origin.utf8)
        guard bytes.starts(with: scheme), bytes.count > scheme.count + parent.count,
            bytes.suffix(parent.count).elementsEqual(parent)
        else { return false }
        let labels = bytes[scheme.count..<(bytes.count - parent.count)]
        return labels.split(separator: 0x2E, omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && $0.first != 0x2D && $0.last != 0x2D
                && $0.allSatisfy { byte in
                    (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
                }
        }
    }

    private static func isLocal(_ origin: String) -> Bool {
        let host = "http://localhost"
        guard origin.utf8.starts(with: host.utf8) else { return false }
        let rest = origin.utf8.dropFirst(host.utf8.count)
        guard let colon = rest.first else { return true }
        let digits = rest.dropFirst()
        return colon == 0x3A && (1...5).contains(digits.count) && digits.first != 0x30
            && digits.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Swift finds two spellings of a letter equal; an origin has one.
    static func contains(_ origins: Set<String>, _ origin: String) -> Bool {
        origins.contains { $0.utf8.elementsEqual(origin.utf8) }
    }
}
