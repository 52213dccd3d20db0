internal import Cryptography
internal import Identity
internal import Values

/// What an installation has a store vouch for it with. Nothing is written of it: it is a name and a keyed
/// digest over that and the installation that it is for.
extension TokenMint {
    private static let tagLength = 8

    func attestationChallenge(_ id: UUID, for installation: UUID) -> String {
        Base64URL.encode(id.bytes + tag(id, installation))
    }

    /// Nil for what was not given to this installation.
    func readAttestationChallenge(_ text: String, of installation: UUID) -> UUID? {
        guard text.utf8.count == 32, let bytes = Base64URL.decode(text), bytes.count == 24,
            let id = UUID(bytes: Array(bytes.prefix(16))),
            version(where: {
                constantTimeEqual(Array(bytes.dropFirst(16)), $0.tag(id, installation))
            }) != nil
        else { return nil }
        return id
    }

    private func tag(_ id: UUID, _ installation: UUID) -> [UInt8] {
        Array(
            derive(.attestationChallenge, id.bytes + installation.bytes).prefix(Self.tagLength))
    }
}
