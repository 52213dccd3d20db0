public import Cryptography
import EventSourcing
import Values

/// A key of a realm as it was read.
struct UnwrappedKey: Sendable {
    let id: UUID
    let secret: SecretBytes
    /// The key is accepted, and not in use yet.
    let isAnnounced: Bool
}

/// The keys of one realm, unwrapped, for as long as the process lives.
public final class RealmKeys: Sendable {
    /// Wraps subject keys; the newest version wraps new ones.
    let wrapping: [Int: SecretBytes]
    let wrappingVersion: Int
    let index: HMACKey
    /// Newest first: what an older one authenticated stays authentic.
    public let mac: [HMACKey]
    /// The name that the newest of them has in the database, where it must be when what it
    /// authenticates is appended. Every change of a realm's keys makes a new one, so that it stands
    /// for all of them.
    let macID: UUID
    let macVersion: Int
    /// The ids of all keys.
    let ids: Set<UUID>
    /// The ids of the keys that are not in use yet.
    let announced: Set<UUID>
    /// Derives names, which stay for good, also when the derive key is rotated.
    private let naming: HMACKey
    /// The derive keys, the one in use first. A token that any of them derived is accepted.
    private let derivations: [HMACKey]
    /// Signs the checkpoints of the realm's tree.
    public let signing: Ed25519.PrivateKey

    init?(_ unwrapped: [KeyPurpose: [Int: UnwrappedKey]]) {
        func newest(_ purpose: KeyPurpose) -> UnwrappedKey? {
            unwrapped[purpose]?.max { $0.key < $1.key }?.value
        }
        guard let wrapping = unwrapped[.wrap], let wrappingVersion = wrapping.keys.max(),
            let index = newest(.index)?.secret, let derive = unwrapped[.derive],
            let naming = newest(.name)?.secret ?? Self.only(derive),
            let sign = newest(.sign)?.secret, let macs = unwrapped[.mac],
            let macID = newest(.mac)?.id, let macVersion = macs.keys.max(),
            let signing = try? Ed25519.PrivateKey(seed: sign)
        else { return nil }
        let inUse = derive.filter { !$0.value.isAnnounced }.sorted { $0.key > $1.key }
        guard !inUse.isEmpty else { return nil }
        self.wrapping = wrapping.mapValues(\.secret)
        self.wrappingVersion = wrappingVersion
        self.index = HMACKey(index)
        self.mac = macs.sorted { $0.key > $1.key }.map { HMACKey($0.value.secret) }
        self.macID = macID
        self.macVersion = macVersion
        ids = Set(unwrapped.values.flatMap { $0.values.map(\.id) })
        announced = Set(unwrapped.values.flatMap { $0.values.filter(\.isAnnounced).map(\.id) })
        self.naming = HMACKey(naming)
        derivations = (inUse.map(\.value) + derive.values.filter(\.isAnnounced)).map {
            HMACKey($0.secret)
        }
        self.signing = signing
    }

    /// A realm that is older than the key for names derives them from its derive key, as long as there is
    /// one: the second one comes together with a copy of the first (`Keyring.announceDeriveKey`).
    static func only(_ derive: [Int: UnwrappedKey]) -> SecretBytes? {
        derive.count == 1 ? derive.values.first?.secret : nil
    }

    /// The blind key of a claim: equal values have equal keys, and the values cannot be read from
    /// them.
    func blind(_ claim: Claim) -> [UInt8] {
        index.authenticate([Array(claim.kind.utf8), [0], Array(claim.value.utf8)])
    }

    /// How many versions of the derive key are accepted.
    public var deriveVersions: Int { derivations.count }

    /// A secret that can be given again without being stored. Version 0 is the one in use.
    public func derive(_ purpose: String, _ id: [UInt8], version: Int = 0) -> [UInt8] {
        derivations[version].authenticate([Array(purpose.utf8), [0], id])
    }

    /// The same for what no rotation may change.
    public func deriveName(_ purpose: String, _ id: [UInt8]) -> [UInt8] {
        naming.authenticate([Array(purpose.utf8), [0], id])
    }

    public func isAuthentic(leaf: [UInt8], mac tag: [UInt8]) -> Bool {
        mac.contains { constantTimeEqual(Record.mac(leaf, under: $0), tag) }
    }
}

enum KeyPurpose: String, CaseIterable, Sendable {
    case wrap, index, mac, derive, sign, name
}
