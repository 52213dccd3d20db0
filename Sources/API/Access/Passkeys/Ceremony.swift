internal import Cryptography
internal import HTTP
internal import JSON
internal import Values

/// A ceremony of WebAuthn, of which nothing is kept while it lasts: its id says when it began and
/// shows that it is ours, its challenge follows from the id, and both hold only for what it was
/// begun for. Whether it has been gone through is known from the stream of its name.
struct Ceremony: Sendable, Equatable {
    enum Kind: String, Sendable {
        case signIn = "sign-in"
        case enrollment
        /// On a page, by the browser that has this name.
        case page
        /// In a tenant's app, on a page of its own origin.
        case tenant
    }

    let kind: Kind
    /// The name of the client that began it, where it said one.
    let client: String?
    /// Whose passkey is made.
    let account: UUID?
    /// What changes this during a ceremony ends it: the domain is that of its beginning.
    let relyingParty: String

    /// Every part with its length, so that no two ceremonies have the same bytes.
    fileprivate let bytes: [UInt8]
    /// Of the page: what is signed is for that alone, and any answer is known to be of the ceremony.
    fileprivate let page: [UInt8]

    init(
        kind: Kind, client: String?, account: UUID?, relyingParty: String, page: String? = nil
    ) {
        (self.kind, self.client, self.account) = (kind, client, account)
        self.relyingParty = relyingParty
        var bytes: [UInt8] = []
        bytes.reserveCapacity(128)
        for part in [
            kind.rawValue, client.map { "=\($0)" } ?? "", account?.description ?? "", relyingParty,
        ] {
            let count = UInt16(clamping: part.utf8.count)
            bytes.append(UInt8(count >> 8))
            bytes.append(UInt8(count & 0xFF))
            bytes.append(contentsOf: part.utf8)
        }
        self.bytes = bytes
        self.page = page.map { Array(" \($0)".utf8) } ?? []
    }
}

extension TokenMint {
    /// Of the id's 62 random bits 32 are a keyed digest of the others: a forged id is recognised
    /// without a look-up, and nothing is put on record for it.
    func newID(of ceremony: Ceremony, at now: Timestamp) -> UUID {
        var random = SystemRandom()
        let id = UUID.v7(at: now, using: &random)
        return UUID(high: id.high, low: id.low & Self.untagged | tag(id, ceremony))
    }

    /// Whether this server has begun the ceremony, and for this.
    func isOurs(_ id: UUID, _ ceremony: Ceremony) -> Bool {
        guard id.timestamp != nil else { return false }
        return version(ofCeremony: id, ceremony) != nil
    }

    /// What the authenticator has to sign.
    func challenge(_ id: UUID, _ ceremony: Ceremony) -> [UInt8] {
        (version(ofCeremony: id, ceremony) ?? self)
            .derive(.passkeyChallenge, id.bytes + ceremony.bytes + ceremony.page)
    }

    private func version(ofCeremony id: UUID, _ ceremony: Ceremony) -> TokenMint? {
        version { id.low & ~Self.untagged == $0.tag(id, ceremony) }
    }

    private static let untagged: UInt64 = 0xFFFF_FFFF_0000_0000

    private func tag(_ id: UUID, _ ceremony: Ceremony) -> UInt64 {
        let bare = UUID(high: id.high, low: id.low & Self.untagged)
        return derive(.passkeyCeremony, bare.bytes + ceremony.bytes).prefix(4)
            .reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension Ceremony {
    /// Begins it: what a client is told to ask the authenticator.
    func begin(
        in context: RealmContext, options: (_ challenge: [UInt8]) -> JSON
    ) -> Response {
        let id = context.mint.newID(of: self, at: context.clock.now())
        return .json(
            .ok,
            [
                "ceremonyId": .string(id.description),
                "options": options(context.mint.challenge(id, self)),
            ])
    }
}
