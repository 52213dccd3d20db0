public import JSON

/// The rules that a policy may have, in the order in which they are told.
public enum PolicyRule: String, CaseIterable, Sendable {
    case secondFactor = "require_second_factor"
    case methods = "allow_methods"
    case countries
    case networks
    case hours
    case devices
    case sessionLifetime = "session_lifetime"
    case idleLifetime = "idle_lifetime"
    case maxSessions = "max_sessions"
    case lock = "lock_after"

    /// Those that say how long a session may go on; all others are about sign-ins.
    public static let lifetimes: [PolicyRule] = [.sessionLifetime, .idleLifetime]
}

/// What a realm asks of those who sign in, beside what it asks today. `PolicyReader` reads it.
public struct SignInPolicy: Sendable, Equatable {
    /// Whose sign-ins need a second factor.
    public struct SecondFactor: Sendable, Equatable {
        public var isForAll = false
        /// Of any audience.
        public var roles: [String] = []
        /// The clients by their names.
        public var clients: [String] = []
    }

    /// An allow list or a deny list.
    public struct Choice<Value: Hashable & Sendable>: Sendable, Equatable {
        public let allows: Bool
        public let values: Set<Value>

        func outcome(_ isListed: Bool) -> PolicyOutcome {
            isListed == allows ? .satisfied : .refuse
        }
    }

    public struct Networks: Sendable, Equatable {
        public let allows: Bool
        public let systems: Set<Int64>
        /// Addresses and ranges of them, as they are written.
        public let addresses: [String]
        /// What the log has in the place of the addresses.
        public var sources: Set<String> = []
    }

    public struct Hours: Sendable, Equatable {
        /// Of the week, Monday first.
        public let days: Set<Int64>
        /// Start of the hours in seconds of the day. An end before the start is on the next day.
        public let start: Int64
        public let end: Int64
        /// Seconds that the clock is ahead of UTC.
        public let offset: Int64
    }

    public struct Lock: Sendable, Equatable {
        public let tries: Int
        public let seconds: Int64
    }

    public var secondFactor: SecondFactor?
    public var methods: Set<String>?
    public var countries: Choice<String>?
    public var networks: Networks?
    public var hours: Hours?
    /// Seconds for which the account must have used the kind of device.
    public var deviceAge: Int64?
    public var sessionLifetime: Int64?
    public var idleLifetime: Int64?
    public var maxSessions: Int?
    public var lock: Lock?
    /// The policy as it was written.
    public let json: JSON

    init(_ json: JSON) { self.json = json }

    public var rules: [PolicyRule] {
        PolicyRule.allCases.filter { json[$0.rawValue] != nil }
    }

    public var hasLifetimes: Bool { sessionLifetime != nil || idleLifetime != nil }

    /// The same with what the log has in the place of addresses.
    public func knowing(sources: [String]) -> SignInPolicy {
        var policy = self
        policy.networks?.sources = Set(sources)
        return policy
    }
}
