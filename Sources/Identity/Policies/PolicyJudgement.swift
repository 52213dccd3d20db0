public import Values

/// A sign-in as a policy sees it.
public struct SignInAttempt: Sendable, Equatable {
    public var account: UUID
    public var at: Timestamp
    /// By its name; nil on a page.
    public var client: String?
    /// How the person signed in: a way of the pages or a grant. Nil for an unknown value.
    public var method: String?
    /// A passkey, or more than one factor.
    public var isStrong: Bool
    public var country: String?
    /// Number of the autonomous system that it came from.
    public var asn: Int64?
    /// Pseudonym of the network that it came from.
    public var source: String?
    /// Kind of the device.
    public var device: String?
    /// It came of a session of the browser, where the person had signed in before.
    public var isOfBrowser: Bool

    public init(
        account: UUID, at: Timestamp, client: String? = nil, method: String? = nil,
        isStrong: Bool = false, country: String? = nil, asn: Int64? = nil, source: String? = nil,
        device: String? = nil, isOfBrowser: Bool = false
    ) {
        self.account = account
        self.at = at
        self.client = client
        self.method = method
        self.isStrong = isStrong
        self.country = country
        self.asn = asn
        self.source = source
        self.device = device
        self.isOfBrowser = isOfBrowser
    }
}

/// The roles, factors, sessions and failures of an account at a sign-in. A past range of the log may lack some of them; a
/// server that enforces a policy has them all.
public struct AccountKnowledge: Sendable, Equatable {
    /// Nothing of the account is unknown: its whole history was looked at.
    public var isWhole: Bool
    /// From when on its failed attempts are known.
    public var triesSince: Timestamp
    /// Of all audiences; nil where they are not known.
    public var roles: [String]?
    public var factors: Int
    /// When it was first seen on the device of the attempt.
    public var deviceSince: Timestamp?
    /// Sessions that are known to be open.
    public var openSessions: Int
    /// Wrong tries in the time that the policy looks back.
    public var wrongTries: Int

    public init(
        isWhole: Bool, triesSince: Timestamp, roles: [String]? = nil, factors: Int = 0,
        deviceSince: Timestamp? = nil, openSessions: Int = 0, wrongTries: Int = 0
    ) {
        self.isWhole = isWhole
        self.triesSince = triesSince
        self.roles = roles
        self.factors = factors
        self.deviceSince = deviceSince
        self.openSessions = openSessions
        self.wrongTries = wrongTries
    }
}

/// What is known of a session when it is refreshed.
public struct SessionKnowledge: Sendable, Equatable {
    public var openedAt: Timestamp?
    public var usedAt: Timestamp?

    public init(openedAt: Timestamp? = nil, usedAt: Timestamp? = nil) {
        self.openedAt = openedAt
        self.usedAt = usedAt
    }
}

/// What each rule says, and what follows from them.
public struct SignInJudgement: Sendable, Equatable {
    public var rules: [(rule: PolicyRule, outcome: PolicyOutcome)]

    public var outcome: PolicyOutcome { .together(rules.map(\.outcome)) }

    public static func == (left: SignInJudgement, right: SignInJudgement) -> Bool {
        left.rules.elementsEqual(right.rules) { $0.rule == $1.rule && $0.outcome == $1.outcome }
    }
}

/// The evaluator: what a policy says of a sign-in follows from the sign-in, what is known of its account, and the
/// policy alone. What-if and enforcement ask the same function.
extension SignInPolicy {
    public func judgement(
        of attempt: SignInAttempt, knowing account: AccountKnowledge
    ) -> SignInJudgement {
        var rules: [(rule: PolicyRule, outcome: PolicyOutcome)] = []
        rules.reserveCapacity(4)
        if let secondFactor {
            rules.append((.secondFactor, secondFactor.outcome(of: attempt, account)))
        }
        if let methods {
            let outcome: PolicyOutcome? = attempt.method.map {
                methods.contains($0) ? .satisfied : .refuse
            }
            rules.append((.methods, outcome ?? .unknown))
        }
        if let countries {
            let outcome = attempt.country.map {
                countries.outcome(countries.values.contains($0))
            }
            rules.append((.countries, outcome ?? .unknown))
        }
        if let networks { rules.append((.networks, networks.outcome(of: attempt))) }
        if let hours { rules.append((.hours, hours.has(attempt.at) ? .satisfied : .refuse)) }
        if let deviceAge {
            rules.append((.devices, Self.outcome(of: attempt, account, deviceAge: deviceAge)))
        }
        if hasLifetimes {
            for rule in rulesOfSessions { rules.append((rule, .notApplicable)) }
        }
        if let maxSessions {
            let outcome: PolicyOutcome =
                attempt.isOfBrowser
                ? .notApplicable
                : account.openSessions >= maxSessions
                    ? .refuse : account.isWhole ? .satisfied : .unknown
            rules.append((.maxSessions, outcome))
        }
        if let lock {
            let begin = attempt.at.adding(seconds: -lock.seconds)
            let outcome: PolicyOutcome =
                account.wrongTries >= lock.tries
                ? .refuse
                : account.isWhole || begin >= account.triesSince ? .satisfied : .unknown
            rules.append((.lock, outcome))
        }
        return SignInJudgement(rules: rules)
    }

    private var rulesOfSessions: [PolicyRule] {
        (sessionLifetime == nil ? [] : [.sessionLifetime])
            + (idleLifetime == nil ? [] : [.idleLifetime])
    }

    private static func outcome(
        of attempt: SignInAttempt, _ account: AccountKnowledge, deviceAge: Int64
    ) -> PolicyOutcome {
        guard attempt.device != nil else { return .unknown }
        if let since = account.deviceSince, since.adding(seconds: deviceAge) <= attempt.at {
            return .satisfied
        }
        return account.isWhole ? .refuse : .unknown
    }

    /// What each lifetime says of a session that is refreshed.
    public func judgement(
        ofRefreshAt time: Timestamp, knowing session: SessionKnowledge
    ) -> [(rule: PolicyRule, outcome: RefreshOutcome)] {
        var rules: [(rule: PolicyRule, outcome: RefreshOutcome)] = []
        if let sessionLifetime {
            let end = session.openedAt?.adding(seconds: sessionLifetime)
            let outcome: RefreshOutcome? = end.map { $0 < time ? .ended($0) : .satisfied }
            rules.append((.sessionLifetime, outcome ?? .unknown))
        }
        if let idleLifetime {
            let end = session.usedAt?.adding(seconds: idleLifetime)
            if let end, end < time {
                rules.append((.idleLifetime, .ended(end)))
            } else {
                // One that was opened before what is known may have been over by then.
                rules.append((.idleLifetime, session.openedAt == nil ? .unknown : .satisfied))
            }
        }
        return rules
    }
}

extension SignInPolicy.SecondFactor {
    fileprivate func outcome(
        of attempt: SignInAttempt, _ account: AccountKnowledge
    ) -> PolicyOutcome {
        let isOfClient = attempt.client.map(clients.contains) ?? false
        if !isForAll, !isOfClient {
            if roles.isEmpty { return .notApplicable }
            // Where the roles are not known, a strong sign-in is good either way.
            guard let held = account.roles else { return attempt.isStrong ? .satisfied : .unknown }
            guard roles.contains(where: held.contains) else { return .notApplicable }
        }
        if attempt.isStrong { return .satisfied }
        if account.factors > 0 { return .interrupt }
        return account.isWhole ? .refuse : .unknown
    }
}

extension SignInPolicy.Networks {
    fileprivate func outcome(of attempt: SignInAttempt) -> PolicyOutcome {
        let isListed =
            attempt.asn.map(systems.contains) == true
            || attempt.source.map(sources.contains) == true
        if isListed { return allows ? .satisfied : .refuse }
        if !systems.isEmpty, attempt.asn == nil { return .unknown }
        if !sources.isEmpty, attempt.source == nil { return .unknown }
        return allows ? .refuse : .satisfied
    }
}

extension SignInPolicy.Hours {
    fileprivate func has(_ time: Timestamp) -> Bool {
        let local = time.adding(seconds: offset).seconds
        let second = (local % 86_400 + 86_400) % 86_400
        // The first of January 1970 was a Thursday.
        let day = (((local - second) / 86_400 + 3) % 7 + 7) % 7
        if start < end { return days.contains(day) && second >= start && second < end }
        return second >= start && days.contains(day)
            || second < end && days.contains((day + 6) % 7)
    }
}
