import Cryptography
import EventSourcing
import Values

/// A key that seals for one subject.
struct SubjectKey: Sendable {
    /// Its name in the database, where it must be when what it sealed is appended.
    let id: UUID
    /// Prepared, because each event has a key of its own that is derived from it.
    let sealing: HMACKey

    init(id: UUID, secret: SecretBytes) {
        self.id = id
        sealing = HKDF.prepare(secret)
    }
}

/// The keys that this node has in memory. Any event that makes it doubt that they are the
/// database's takes them out of use, and ends a generation: what was on its way here before comes
/// too late.
struct KeyCache {
    struct ID: Hashable {
        let realm: RealmID
        let subject: UUID
    }

    /// Of subjects that this node wrote for of late. Bounded: full means start again.
    private static let capacity = 10_000
    private(set) var generation = 0
    private var realms: [RealmID: RealmKeys] = [:]
    /// Out of use until the database is seen to have the very same.
    private var doubted: [RealmID: RealmKeys] = [:]
    private var subjects: [ID: SubjectKey] = [:]
    /// The number that the database had for each realm's keys when it was read last.
    private var numbers: [RealmID: Int32] = [:]

    func keys(of realm: RealmID) -> RealmKeys? { realms[realm] }

    /// The cached keys, or those that were in use before.
    func lastKeys(of realm: RealmID) -> RealmKeys? { realms[realm] ?? doubted[realm] }

    func key(of subject: UUID, in realm: RealmID) -> SubjectKey? {
        subjects[ID(realm: realm, subject: subject)]
    }

    mutating func store(_ keys: RealmKeys, of realm: RealmID, from generation: Int) {
        guard generation == self.generation else { return }
        realms[realm] = keys
        doubted[realm] = nil
    }

    mutating func store(_ keys: [UUID: SubjectKey], in realm: RealmID, from generation: Int) {
        guard generation == self.generation else { return }
        if subjects.count + keys.count > Self.capacity { subjects.removeAll() }
        for (subject, key) in keys { subjects[ID(realm: realm, subject: subject)] = key }
    }

    /// Whether the generation number has changed.
    mutating func note(_ number: Int32, of realm: RealmID) -> Bool {
        defer { numbers[realm] = number }
        return numbers[realm] != number
    }

    mutating func forget(_ subject: UUID, in realm: RealmID) {
        subjects[ID(realm: realm, subject: subject)] = nil
    }

    mutating func forget(_ realm: RealmID) {
        generation += 1
        if let keys = realms.removeValue(forKey: realm) { doubted[realm] = keys }
        subjects.removeAll()
    }

    mutating func forgetAll() {
        generation += 1
        doubted.merge(realms) { $1 }
        realms.removeAll()
        subjects.removeAll()
    }
}
