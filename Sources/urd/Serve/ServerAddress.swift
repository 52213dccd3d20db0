/// Where the server listens.
struct ServerAddress: Equatable, Sendable {
    let port: UInt16
    let privatePort: UInt16?
    /// Mails can be read at the private port.
    var hasInbox = false
    /// Where the realms are, each with its name.
    var issuers: [String] = []

    var inbox: String? {
        privatePort.flatMap { hasInbox ? "http://127.0.0.1:\($0)/inbox" : nil }
    }
}
