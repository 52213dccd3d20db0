import Cryptography
import EventSourcing
import Values

/// Keys that seal, of the subjects this node wrote for of late. Bounded: full means start again.
struct SubjectKeyCache {
    struct ID: Hashable {
        let realm: RealmID
        let subject: UUID
    }

    private static let capacity = 10_000
    private var keys: [ID: SecretBytes] = [:]

    func find(_ id: ID) -> SecretBytes? { keys[id] }

    mutating func store(_ key: SecretBytes, _ id: ID) {
        if keys.count >= Self.capacity { keys.removeAll() }
        keys[id] = key
    }

    mutating func forget(_ id: ID) { keys[id] = nil }

    mutating func clear() { keys.removeAll() }
}
