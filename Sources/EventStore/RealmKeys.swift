public import Cryptography
import EventSourcing
import Values

/// A key of a realm as it was read.
struct UnwrappedKey: Sendable {
    let id: UUID
    let secret: SecretBytes
}

/// The keys of one realm, unwrapped, for as long as the process lives.
public final class RealmKeys: Sendable {
    /// Wraps subject keys; the newest version wraps new ones.
    let wrapping: [Int: SecretBytes]
    let wrappingVersion: Int
    let index: HMACKey
    /// Newest first: what an older one authenticated stays authentic.
    public let mac: [HMACKey]
    /// The name that the newest of them has in the database, where it must be when what it authenticates
    /// is appended. Whatever changes a realm's keys makes a new one, so that it stands for all of them.
    let macID: UUID
    /// The names of all of them.
    let ids: Set<UUID>
    let derivation: HMACKey
    /// Signs the checkpoints of the realm's tree.
    public let signing: Ed25519.PrivateKey

    init?(_ unwrapped: [KeyPurpose: [Int: UnwrappedKey]]) {
        func newest(_ purpose: KeyPurpose) -> UnwrappedKey? {
            unwrapped[purpose]?.max { $0.key < $1.key }?.value
        }
        guard let wrapping = unwrapped[.wrap], let wrappingVersion = wrapping.keys.max(),
            let index = newest(.index)?.secret, let derivation = newest(.derive)?.secret,
            let sign = newest(.sign)?.secret, let macs = unwrapped[.mac],
            let macID = newest(.mac)?.id, let signing = try? Ed25519.PrivateKey(seed: sign)
        else { return nil }
        self.wrapping = wrapping.mapValues(\.secret)
        self.wrappingVersion = wrappingVersion
        self.index = HMACKey(index)
        self.mac = macs.sorted { $0.key > $1.key }.map { HMACKey($0.value.secret) }
        self.macID = macID
        ids = Set(unwrapped.values.flatMap { $0.values.map(\.id) })
        self.derivation = HMACKey(derivation)
        self.signing = signing
    }

    /// The blind key of a claim: equal values meet, and nobody can read them.
    func blind(_ claim: Claim) -> [UInt8] {
        index.authenticate([Array(claim.kind.utf8), [0], Array(claim.value.utf8)])
    }

    /// A secret that can be given again without being stored.
    public func derive(_ purpose: String, _ id: [UInt8]) -> [UInt8] {
        derivation.authenticate([Array(purpose.utf8), [0], id])
    }

    public func isAuthentic(leaf: [UInt8], mac tag: [UInt8]) -> Bool {
        mac.contains { constantTimeEqual(Record.mac(leaf, under: $0), tag) }
    }
}

enum KeyPurpose: String, CaseIterable, Sendable {
    case wrap, index, mac, derive, sign
}
