internal import Values

/// What the facts so far tell of accounts and sessions. It remembers what the rules of its policy ask for, and nothing
/// else.
struct PolicyMemory: Sendable, Equatable {
    struct Account: Sendable, Equatable {
        let id: UUID
        /// Its registration was among the facts.
        var isWhole: Bool
        var roles: [String]?
        var factors: [UUID] = []
        /// When each kind of device was first seen.
        var devices: [Seen] = []
        /// Times of failed attempts, in ascending order.
        var tries: [Int64] = []
        var open: [Open] = []
    }

    struct Seen: Sendable, Equatable {
        let device: String
        var since: Int64
    }

    struct Open: Sendable, Equatable {
        let session: UUID
        let expiresAt: Int64
        /// What access is removed from.
        let places: [UUID]
    }

    struct Session: Sendable, Equatable {
        /// Among the accounts; nil for what is known of it being its use alone.
        var account: Int?
        var openedAt: Timestamp?
        var usedAt: Timestamp?
        /// The time at which the session would have ended.
        var endedAt: Timestamp?
        var expiresAt: Int64 = .max
        var isWanted: Bool
    }

    /// A session of the browser.
    struct Page: Sendable, Equatable {
        /// How the person signed in.
        let method: String
        let expiresAt: Int64
    }

    let policy: SignInPolicy
    /// The facts begin with the log.
    let isWhole: Bool
    /// The time of the first event that was looked at.
    let since: Timestamp
    var accounts: [Account] = []
    var places: [UUID: Int] = [:]
    var sessions: [UUID: Session] = [:]
    var pages: [UUID: Page] = [:]
    /// Sign-ins since what is over was forgotten.
    var sinceForgetting = 0

    init(_ policy: SignInPolicy, isWhole: Bool, since: Timestamp) {
        self.policy = policy
        self.isWhole = isWhole
        self.since = since
    }

    /// Clocks of nodes differ: what is older than the newest by more than this is not needed for any event to come.
    private static let slack: Int64 = 86_400 * 1_000_000
    /// Seconds by which what stands before the first event may be later than it.
    private static let clocks: Int64 = 60

    private var keepsSessions: Bool { policy.hasLifetimes || policy.maxSessions != nil }

    mutating func place(of account: UUID) -> Int {
        if let place = places[account] { return place }
        accounts.append(Account(id: account, isWhole: isWhole, roles: isWhole ? [] : nil))
        places[account] = accounts.count - 1
        return accounts.count - 1
    }

    // MARK: - What is known

    /// The sign-in with the facts that other events tell of it.
    func attempt(of signIn: PolicyFact.SignIn) -> SignInAttempt {
        var attempt = signIn.attempt
        if let browser = signIn.browser { attempt.method = pages[browser]?.method }
        return attempt
    }

    func knowledge(of place: Int, for attempt: SignInAttempt) -> AccountKnowledge {
        let account = accounts[place]
        let now = attempt.at.microseconds
        var knowledge = AccountKnowledge(
            isWhole: account.isWhole, triesSince: since.adding(seconds: Self.clocks),
            roles: account.roles,
            factors: account.factors.count)
        if policy.deviceAge != nil, let device = attempt.device,
            let seen = account.devices.first(where: { $0.device == device })
        {
            knowledge.deviceSince = Timestamp(microseconds: seen.since)
        }
        if policy.maxSessions != nil {
            knowledge.openSessions = account.open.count { $0.expiresAt > now }
        }
        if let lock = policy.lock {
            let begin = attempt.at.adding(seconds: -lock.seconds).microseconds
            for time in account.tries.reversed() {
                if time <= begin { break }
                if time <= now { knowledge.wrongTries += 1 }
            }
        }
        return knowledge
    }

    // MARK: - What happened

    mutating func note(_ fact: PolicyFact, at time: Timestamp) {
        switch fact {
        case .registered(let account):
            let place = place(of: account)
            accounts[place].isWhole = true
            accounts[place].roles = accounts[place].roles ?? []
        case .roles(let roles, let account):
            guard policy.secondFactor?.roles.isEmpty == false else { return }
            accounts[place(of: account)].roles = roles
        case .factorAdded(let factor, let account):
            guard policy.secondFactor != nil else { return }
            let place = place(of: account)
            guard !accounts[place].factors.contains(factor) else { return }
            accounts[place].factors.append(factor)
        case .factorRemoved(let factor, let account):
            guard policy.secondFactor != nil, let place = places[account] else { return }
            accounts[place].factors.removeAll { $0 == factor }
        case .wrongTry(let account): noteTry(account, at: time.microseconds)
        case .ended(let session): end(session)
        case .allEnded(let account):
            if let place = places[account] { accounts[place].open = [] }
        case .accessRemoved(let stream, let account):
            guard let place = places[account] else { return }
            accounts[place].open.removeAll { $0.places.contains(stream) }
        case .signIn, .refreshed: break
        }
    }

    private mutating func noteTry(_ account: UUID, at time: Int64) {
        guard let lock = policy.lock else { return }
        let place = place(of: account)
        var index = accounts[place].tries.count
        while index > 0, accounts[place].tries[index - 1] > time { index -= 1 }
        accounts[place].tries.insert(time, at: index)
        // Now and then, so that an attack costs no more than its tries.
        guard accounts[place].tries.count % 256 == 0, let newest = accounts[place].tries.last else {
            return
        }
        let oldest = newest - lock.seconds * 1_000_000 - Self.slack
        accounts[place].tries.removeAll { $0 < oldest }
    }

    private mutating func end(_ session: UUID) {
        pages[session] = nil
        guard let ended = sessions.removeValue(forKey: session), let place = ended.account else {
            return
        }
        accounts[place].open.removeAll { $0.session == session }
    }

    /// - Parameter isCounted: whether it is one of the sessions that an account may have only so many of.
    mutating func note(
        _ signIn: PolicyFact.SignIn, of place: Int, isCounted: Bool, isWanted: Bool
    ) {
        let attempt = signIn.attempt
        let now = attempt.at.microseconds
        if policy.deviceAge != nil, let device = attempt.device {
            if let index = accounts[place].devices.firstIndex(where: { $0.device == device }) {
                accounts[place].devices[index].since = min(
                    now, accounts[place].devices[index].since)
            } else {
                accounts[place].devices.append(Seen(device: device, since: now))
            }
        }
        if policy.methods != nil, signIn.isPage, let method = attempt.method {
            pages[signIn.session] = Page(
                method: method, expiresAt: signIn.expiresAt.microseconds)
        }
        let counts = isCounted && policy.maxSessions != nil
        if keepsSessions, counts || !signIn.isPage && policy.hasLifetimes {
            sessions[signIn.session] = Session(
                account: counts ? place : nil, openedAt: attempt.at, usedAt: attempt.at,
                expiresAt: signIn.expiresAt.microseconds, isWanted: isWanted)
        }
        forget(at: now)
        guard counts else { return }
        if accounts[place].open.count % 64 == 63 {
            accounts[place].open.removeAll { $0.expiresAt < now - Self.slack }
        }
        accounts[place].open.append(
            Open(
                session: signIn.session, expiresAt: signIn.expiresAt.microseconds,
                places: signIn.places))
    }

    private mutating func forget(at now: Int64) {
        sinceForgetting += 1
        guard sinceForgetting == 65_536 else { return }
        sinceForgetting = 0
        sessions = sessions.filter { $0.value.expiresAt >= now - Self.slack }
        pages = pages.filter { $0.value.expiresAt >= now - Self.slack }
    }
}
