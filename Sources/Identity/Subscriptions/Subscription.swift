public import EventSourcing
public import Values

/// That a realm's events are sent to a service.
public struct Subscription: StreamState {
    public enum Kind: String, CaseIterable, Sendable {
        /// Events are sent to an address.
        case webhook
        /// Events are read over a feed, whose cursor is kept.
        case feed

        /// As many of the kind a realm may have.
        public var limit: Int {
            switch self {
            case .webhook: 50
            case .feed: 100
            }
        }
    }

    public enum DisableReason: String, CaseIterable, Sendable {
        /// The receiver answered 410.
        case gone
        /// Nothing could be delivered for days.
        case failing
        /// In strict order, an event was given up.
        case givenUp = "given_up"
        /// The log was set back behind what had been delivered.
        case rewound
    }

    public enum Standing: Sendable, Equatable {
        case active
        case paused
        case disabled(DisableReason)
        case deleted
    }

    public private(set) var kind = Kind.webhook
    public private(set) var terms = SubscriptionTerms(name: "", url: "")
    public private(set) var standing = Standing.active
    /// Which of its kind's places in the realm it has. Nil for one from before places were numbered.
    public private(set) var slot: Int?
    /// Nil where the secret cannot be decrypted any more.
    public private(set) var secret: SubscriptionSecret?
    /// Older secrets, the newest first: they sign beside the current one until their grace period ends.
    private var oldSecrets: [OldSecret] = []
    private static let mostOldSecrets = 2
    /// Everything up to here was never asked for, or was given up by an administrator.
    public private(set) var startsAfter: Int64?
    /// Number of starts at a named position.
    public private(set) var starts = 0
    /// Number of runs: creation, resumption, or a new URL.
    public private(set) var runs = 0
    /// Whether its terms ever had personal fields sent along: erasures are told to it for ever.
    public private(set) var everIncludedPersonal = false
    /// Up to where the log is the one that was delivered of, where it was set back.
    public private(set) var keptTo: Int64?
    /// The position that was halted at last.
    public private(set) var haltedAt: Int64?
    /// Since when the contact was told that nothing is taken.
    public private(set) var warnedSince: Timestamp?

    public init() {}

    public mutating func apply(_ event: SubscriptionEvent) {
        switch event {
        case .created(let kind, let terms, let secret, let start, let slot):
            (self.kind, self.terms, self.secret) = (kind, terms, secret)
            self.slot = slot
            startsAfter = start
            starts += 1
            runs += 1
            everIncludedPersonal = terms.includesPersonal
        case .changed(let terms):
            if terms.url != self.terms.url { runs += 1 }
            self.terms = terms
            everIncludedPersonal = everIncludedPersonal || terms.includesPersonal
        case .paused: standing = .paused
        case .resumed(let start):
            standing = .active
            runs += 1
            (keptTo, haltedAt, warnedSince) = (nil, nil, nil)
            if let start {
                startsAfter = start
                starts += 1
            }
        case .disabled(let reason, let position, _):
            standing = .disabled(reason)
            if reason == .rewound { keptTo = position }
        case .halted(let position, _): haltedAt = position
        case .failing(let since, _): warnedSince = since
        case .secretRotated(let secret, let ends):
            if let old = self.secret {
                oldSecrets.insert(OldSecret(secret: old, ends: ends), at: 0)
            }
            // With the new one there are three at most.
            oldSecrets.removeLast(max(0, oldSecrets.count - Self.mostOldSecrets))
            self.secret = secret
        case .replayed, .tested, .givenUp: break
        case .deleted:
            standing = .deleted
            (secret, oldSecrets) = (nil, [])
        }
    }

    /// Held by each subscription, so that no two requests at once make one too many.
    static func claim(of kind: Kind, slot: Int) -> Claim {
        Claim("subscription", "\(kind.rawValue)/\(slot)")
    }

    /// What signs a message at a time: the newest first.
    public func secrets(at now: Timestamp) -> [SubscriptionSecret] {
        var secrets = secret.map { [$0] } ?? []
        secrets += oldSecrets.filter { now < $0.ends }.map(\.secret)
        return secrets
    }
}

/// A secret that was replaced.
private struct OldSecret: Sendable, Equatable {
    let secret: SubscriptionSecret
    let ends: Timestamp
}

/// What messages of a subscription are signed with: 32 bytes, which its receiver has as well.
public struct SubscriptionSecret: Sendable, Equatable {
    public static let length = 32

    public let shared: [UInt8]

    public init?(shared: [UInt8]) {
        guard shared.count == Self.length else { return nil }
        self.shared = shared
    }
}
