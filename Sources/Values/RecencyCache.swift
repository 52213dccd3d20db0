/// What was used of late, by a key. Two generations stand in for a least-recently-used list: a full young one
/// becomes the old one, and what is still wanted moves back when it is found.
public struct RecencyCache<Key: Hashable, Value> {
    @usableFromInline var young: [Key: Value] = [:]
    @usableFromInline var old: [Key: Value] = [:]
    @usableFromInline let half: Int

    @inlinable
    public init(capacity: Int) {
        half = max(1, capacity / 2)
    }

    @inlinable
    public mutating func find(_ key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old.removeValue(forKey: key) else { return nil }
        young[key] = value
        return value
    }

    @inlinable
    public mutating func store(_ value: Value, for key: Key) {
        young[key] = value
        if young.count > half {
            old = young
            young = [:]
        }
    }

    @inlinable
    public mutating func remove(_ key: Key) {
        young[key] = nil
        old[key] = nil
    }
}

extension RecencyCache: Sendable where Key: Sendable, Value: Sendable {}
