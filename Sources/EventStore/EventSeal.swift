import Cryptography
import EventSourcing
import JSON
import Values

/// Seals the personal fields of one event and opens them.
///
/// Each event has a key of its own, derived from its subject's key and the event's place in the log.
/// So one event can be shown to a third party by handing out its key, and no other event of the same
/// person opens with it. Destroying the subject's key still ends them all.
///
/// AES-GCM alone commits to no key: with some effort bytes can be made that open to different texts
/// under different keys. The key commitment in front rules that out.
struct EventSeal {
    static let commitmentLength = 16

    /// Realm, stream, version and type: sealed bytes open in the place where they were sealed only.
    private let place: [UInt8]

    init(realm: RealmID, stream: UUID, version: Int, type: String) {
        var place: [UInt8] = []
        place.reserveCapacity(120)
        place.append(text: "urd sealed/")
        place.append(contentsOf: realm.name.utf8)
        place.append(text: "/")
        place.append(uuid: stream)
        place.append(text: "/")
        JSON.integer(Int64(version)).write(into: &place)
        place.append(text: "/")
        place.append(contentsOf: type.utf8)
        self.place = place
    }

    /// What a third party is given to open this one event.
    func key(under subject: SecretBytes) -> SecretBytes {
        key(under: HKDF.prepare(subject))
    }

    private func key(under subject: HMACKey) -> SecretBytes {
        HKDF.expand(subject, info: place, length: 32)
    }

    /// Key commitment ‖ what AES-GCM gives, under the prepared key of the subject.
    func seal(_ plain: [UInt8], under subject: HMACKey) throws(Failure) -> [UInt8] {
        let key = HMACKey(key(under: subject))
        let sealed = try AESGCM.seal(plain, key: Self.cipherKey(key), authenticating: place)
        return Self.commitment(key) + sealed
    }

    func open(_ sealed: [UInt8], under subject: SecretBytes) throws(Failure) -> [UInt8] {
        if let plain = try open(sealed, under: HKDF.prepare(subject)) { return plain }
        // Events of before decision 0110 are sealed under the subject's key itself.
        return try AESGCM.open(sealed, key: subject, authenticating: place)
    }

    /// The same under the prepared key of the subject; nil where it is not the one that the event was sealed under.
    func open(_ sealed: [UInt8], under subject: HMACKey) throws(Failure) -> [UInt8]? {
        let key = HMACKey(key(under: subject))
        guard sealed.starts(with: Self.commitment(key)) else { return nil }
        return try AESGCM.open(
            Array(sealed.dropFirst(Self.commitmentLength)), key: Self.cipherKey(key),
            authenticating: place)
    }

    /// The key of this one event, for a third party; nil where the event is sealed under its subject's key
    /// itself, which opens others as well.
    func handedOutKey(of sealed: [UInt8], under subject: SecretBytes) -> [UInt8]? {
        let key = key(under: subject)
        guard sealed.starts(with: Self.commitment(HMACKey(key))) else { return nil }
        return key.exposedCopy()
    }

    private static let encryption = Array("urd event encryption".utf8)
    private static let committing = Array("urd event commitment".utf8)

    private static func cipherKey(_ key: HMACKey) -> SecretBytes {
        HKDF.expand(key, info: encryption, length: AESGCM.keyLength)
    }

    private static func commitment(_ key: HMACKey) -> [UInt8] {
        HKDF.expand(key, info: committing, length: commitmentLength).exposedCopy()
    }
}
