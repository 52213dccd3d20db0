import EventSourcing
import Identity
import JSON
import LogTesting
import Values

/// A log that is written event by event, and the rules that look at it.
struct FindingStory {
    /// 2026-11-02, a Monday, at nine o'clock.
    static let start: Int64 = 1_793_610_000

    private(set) var events: [Recorded] = []
    private(set) var found: [FindingTrigger] = []
    private(set) var risen: [RisenFinding] = []
    private(set) var engine = FindingEngine()
    private var versions: [UUID: Int] = [:]
    private var serial: UInt64 = 0

    static func account(_ number: Int) -> UUID { UUID(high: 0xA, low: UInt64(number)) }

    init(_ rules: FindingTerms...) {
        for terms in rules { add(FindingRulesEvent.set(terms), in: FindingRules.stream, at: 0) }
    }

    /// What a rule found.
    func found(_ rule: FindingRule) -> [FindingTrigger] { found.filter { $0.rule == rule } }

    /// A name that nothing has yet.
    mutating func newID() -> UUID {
        serial += 1
        return UUID(high: 0xF, low: serial)
    }

    /// - Parameter seconds: after the beginning.
    /// - Returns: its position.
    @discardableResult
    mutating func add(
        _ event: any Event, in stream: UUID, at seconds: Int64, by actor: String = "anonymous",
        of subject: UUID? = nil, command: UUID? = nil
    ) -> Int64 {
        let new = NewEvent(event, in: stream, of: subject)
        versions[stream, default: 0] += 1
        let recorded = Recorded(
            realm: RealmID("acme") ?? .system, position: Int64(events.count + 1), stream: stream,
            version: versions[stream] ?? 1, name: new.name, revision: new.revision,
            at: Timestamp(seconds: Self.start + seconds), command: command ?? newID(),
            subject: new.subject, actor: actor, client: nil, correlation: nil,
            leaf: .standIn(stream, 1), open: new.open, personal: .none)
        take(recorded)
        return recorded.position
    }

    mutating func take(_ event: Recorded) {
        events.append(event)
        engine.take(event)
        let (triggers, changes) = (engine.outstanding, engine.risen)
        for trigger in triggers { engine.settle(trigger) }
        for change in changes { engine.settle(change) }
        found += triggers
        risen += changes
        // As the service does: what is found is an event, which the rules see too.
        for trigger in triggers {
            var account: UUID?
            if case .account(let id) = trigger.about { account = id }
            add(
                FindingEvent.raised(RaisedFinding(trigger, account: account, risk: nil)),
                in: trigger.id, at: event.at.seconds - Self.start, by: "findings")
        }
    }

    // MARK: - What happens

    mutating func fail(
        _ account: Int?, from source: String?, at seconds: Int64,
        because reason: String = "invalid_passphrase", command: UUID? = nil
    ) {
        let refused = RefusedBrowser(
            method: .passphrase, reason: reason, account: account.map(Self.account),
            from: SignInPlace(source: source, device: "Linux"))
        add(BrowserSessionEvent.refused(refused), in: newID(), at: seconds, command: command)
    }

    /// - Returns: the session.
    @discardableResult
    mutating func signIn(
        _ account: Int, from source: String = "home", on device: String = "Linux",
        at seconds: Int64, by factors: [AuthenticationFactor] = [.passphrase],
        in location: GeoLocation? = nil
    ) -> UUID {
        let session = newID()
        guard let digest = SecretDigest(Array(repeating: 1, count: 32)) else { return session }
        let terms = BrowserTerms(
            account: Self.account(account), stamp: 1, method: .passphrase, factors: factors,
            digest: digest, openedAt: Timestamp(seconds: Self.start + seconds),
            expiresAt: Timestamp(seconds: Self.start + seconds + 3600),
            from: SignInPlace(source: source, device: device, location: location))
        add(BrowserSessionEvent.opened(terms), in: session, at: seconds)
        return session
    }

    mutating func register(_ account: Int, at seconds: Int64) {
        let fields: JSONObject = [
            "confirmed": true, "mailbox": .string(newID().description), "origin": "code",
        ]
        guard let event = AccountEvent(name: "account.registered", fields: fields) else { return }
        add(event, in: Self.account(account), at: seconds)
    }

    mutating func guess(_ account: Int, at seconds: Int64) {
        add(
            PassphraseEvent.refused(at: Timestamp(seconds: Self.start + seconds)),
            in: Passphrase.stream(of: Self.account(account)), at: seconds,
            of: Self.account(account))
    }

    mutating func administer(by actor: String, at seconds: Int64) {
        add(AccountEvent.enabled, in: Self.account(999), at: seconds, by: actor)
    }

    mutating func disclose(_ count: Int, from first: Int = 0, by actor: String, at seconds: Int64) {
        add(
            DisclosureEvent.made(.person, accounts: (first..<first + count).map(Self.account)),
            in: newID(),
            at: seconds, by: actor)
    }
}

extension FindingTerms {
    /// A rule that is off.
    static func off(_ rule: FindingRule) throws -> FindingTerms {
        try FindingTerms(rule, isEnabled: false)
    }
}
