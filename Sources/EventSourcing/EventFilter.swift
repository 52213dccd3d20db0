public import Values

/// Which events of a realm a reader wants to be shown. Between kinds of conditions all must hold, within
/// one of them any.
public struct EventFilter: Sendable, Hashable {
    /// One of `count` parts that the streams are divided into: a stream is in one part, for ever.
    public struct Shard: Sendable, Hashable {
        public let index: Int
        public let count: Int

        public init?(index: Int, of count: Int) {
            guard (1...Self.most).contains(count), (0..<count).contains(index) else { return nil }
            self.index = index
            self.count = count
        }

        public static let most = 64

        public func has(_ stream: UUID) -> Bool {
            Int(Self.hash(stream) % UInt64(count)) == index
        }

        /// FNV-1a (64 bits) of the id as it is written, so that every reader can tell the shard of a stream.
        static func hash(_ stream: UUID) -> UInt64 {
            stream.description.utf8.reduce(0xcbf2_9ce4_8422_2325) {
                ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3
            }
        }
    }

    /// Some types of events: those of these names, and those whose names begin like that.
    public struct Types: Sendable, Hashable {
        public var names: Set<String> = []
        /// Each ends with its dot: `account.`
        public var families: Set<String> = []

        public init(names: Set<String> = [], families: Set<String> = []) {
            self.names = names
            self.families = families
        }

        public var isEmpty: Bool { names.isEmpty && families.isEmpty }
    }

    /// Empty: all types.
    public var types = Types()
    public var excluded = Types()
    /// Event types that are left out unless they are named.
    public var unasked: Set<String> = []
    /// Types that are wanted although the other conditions leave them out.
    public var always: Set<String> = []
    /// Empty: all streams.
    public var streams: Set<UUID> = []
    public var shard: Shard?
    /// A filter expression that must hold as well. It does not ask the index that says whom events are about.
    public var expression: FilterExpression?

    public init() {}

    public func wants(_ event: Recorded) -> Bool {
        if always.contains(event.name) { return true }
        if !streams.isEmpty, !streams.contains(event.stream) { return false }
        if let shard, !shard.has(event.stream) { return false }
        guard wants(event.name) else { return false }
        return expression?.holds(for: event) ?? true
    }

    /// The types that it wants events of, where it names them one by one.
    public var names: Set<String>? {
        types.names.isEmpty || !types.families.isEmpty ? nil : types.names.union(always)
    }

    /// By the type of the event alone; its stream is not looked at.
    public func wants(_ name: String) -> Bool {
        if !excluded.isEmpty, excluded.names.contains(name) || excluded.hasFamily(of: name) {
            return false
        }
        if types.names.contains(name) { return true }
        guard types.isEmpty || types.hasFamily(of: name) else { return false }
        return !unasked.contains(name)
    }
}

extension EventFilter.Types {
    fileprivate func hasFamily(of name: String) -> Bool {
        families.contains { name.utf8.starts(with: $0.utf8) }
    }
}
