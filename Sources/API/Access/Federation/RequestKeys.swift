internal import Cryptography
internal import Identity
internal import Values

/// The keys that tokens of the profile sign requests with. A key follows from the token's session and number under
/// the realm's derive key: it is stored nowhere, and a refreshed token has another one.
extension TokenMint {
    /// Text of 100 signs, which is the key byte by byte.
    func requestKey(_ session: UUID, _ generation: Int) -> String {
        let bytes = session.bytes + number(generation)
        let digests = (1...3).flatMap { derive(.requestKey, bytes + [UInt8($0)]) }
        return Base64URL.encode(Array(digests.prefix(75)))
    }

    /// Names the token where it is revoked: its `kid`, and a tag that shows that it is ours.
    func federatedToken(_ keyID: String, _ session: UUID, _ generation: Int) -> String {
        let tag = derive(.federatedToken, session.bytes + number(generation))
        return keyID + Base64URL.encode(Array(tag.prefix(30)))
    }

    /// The session of a `kid`, whether or not there is one.
    func session(ofKey keyID: String) -> UUID { .v8(derive(.federatedKey, Array(keyID.utf8))) }

    /// The stream of a device, by what it calls itself.
    func federatedDevice(_ name: String) -> UUID {
        .v8(derive(.federatedDevice, Array(name.utf8)))
    }

    func federatedAssertion(_ id: String) -> UUID {
        .v8(derive(.federatedAssertion, Array(id.utf8)))
    }

    private func number(_ generation: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: generation >> (24 - 8 * $0)) }
    }

    static let keyIDLength = 10

    /// Ten signs: 59 bits. A session has the name that follows from them, so that two cannot have the same.
    static func newKeyID() -> String {
        let signs = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        var random = SystemRandomNumberGenerator()
        let chosen = (0..<keyIDLength).map { _ in signs[Int.random(in: 0..<62, using: &random)] }
        return String(decoding: chosen, as: UTF8.self)
    }
}
