public import EventSourcing
import JSON
public import Values

/// Signs a person in with a browser, by a code, a link or a passkey. Each sign-in is a session of
/// its own; the browser's previous session ends, and with it its clients' sessions if it belonged
/// to another account. A refused sign-in is put on record.
public struct SignInBrowser<Shown: SignInProof>: AnsweringCommand, TimedCommand {
    public var shown: Shown
    public var method: BrowserMethod
    /// The session that is opened, if one is: the name of the attempt, if it fails.
    public var session: UUID
    /// Of the secret that the cookie will have.
    public var digest: SecretDigest
    /// The session that the browser had.
    public var replaced: UUID?
    /// The ends of what clients may have of that one: they are its person's, if another one signs in.
    public var dependents: [LeaveSessions] = []
    public var app: UUID?
    public var from: SignInPlace
    public var now: Timestamp
    /// Seconds that the session lasts at most, where it is for one purpose.
    public var most: Int64?
    /// The web app at whose place the page is.
    public var webApp: UUID?
    /// Its person says that the browser is their own: they stay signed in for long.
    public var isLong = false

    public init(
        _ shown: Shown, by method: BrowserMethod, session: UUID, digest: SecretDigest,
        replaced: UUID? = nil, app: UUID? = nil, from: SignInPlace = SignInPlace(),
        now: Timestamp
    ) {
        self.shown = shown
        self.method = method
        self.session = session
        self.digest = digest
        self.replaced = replaced
        self.app = app
        self.from = from
        self.now = now
    }

    public typealias Rejection = GrantRefusal
    public typealias Outcome = Result<OpenedBrowser, GrantRefusal>

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let settings: Settings
        let replaced: Versioned<BrowserSession>?
        /// The first one of its line, where another account signs in.
        let first: Versioned<BrowserSession>?
        let dependents: [(end: LeaveSessions, facts: LeaveSessions.Facts)]
        /// Replay: the proof has been shown before.
        let isRepeated: Bool
        let shown: Shown.Facts
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let (realm, settings) = try await Realm.settings(of: app, from: streams)
        var isRepeated = false
        // The stream that is written has to be read.
        if let name = shown.sessionName {
            isRepeated = try await streams.read(BrowserSession.self, name).exists
        }
        if shown.sessionName == nil || isRepeated {
            _ = try await streams.readNew(BrowserSession.self, session)
        }
        var before: Versioned<BrowserSession>?
        if let replaced { before = try await streams.read(BrowserSession.self, replaced) }
        let facts = try await shown.gather(streams)
        var dependents: [(end: LeaveSessions, facts: LeaveSessions.Facts)] = []
        var first: Versioned<BrowserSession>?
        if let terms = before?.state.terms, terms.account != shown.account(facts) {
            if let line = terms.line { first = try await streams.read(BrowserSession.self, line) }
            for end in self.dependents {
                dependents.append((end, try await end.gather(streams)))
            }
        }
        return Facts(
            realm: realm, settings: settings, replaced: before, first: first,
            dependents: dependents,
            isRepeated: isRepeated, shown: facts)
    }

    public func settle(_ facts: Facts) throws(GrantRefusal) -> SettledDecision<Outcome> {
        let desk = try desk(facts)
        // An attempt that repeats another one needs a name of its own.
        let attempt = facts.isRepeated ? session : desk.request.session
        do throws(GrantRefusal) {
            guard !facts.isRepeated else { throw GrantRefusal.invalidCeremony("ceremony_used") }
            let settled = try shown.settle(facts.shown, at: desk)
            switch settled.outcome {
            case .success(let granted):
                return SettledDecision(
                    settled.decision,
                    .success(
                        OpenedBrowser(
                            session: granted.session, account: granted.terms.account ?? .zero,
                            expiresAt: granted.terms.expiresAt)))
            case .failure(let refusal):
                var decision = settled.decision
                if let record = record(refusal, facts) {
                    decision.append(record, in: attempt, of: shown.subject(facts.shown))
                }
                return SettledDecision(decision, .failure(refusal))
            }
        } catch {
            guard let record = record(error, facts) else { throw error }
            return SettledDecision(
                Decision(record, in: attempt, of: shown.subject(facts.shown)), .failure(error))
        }
    }

    /// The checks that precede those of the presented secret.
    private func desk(_ facts: Facts) throws(GrantRefusal) -> GrantDesk {
        // A link that an app had mailed works wherever it is opened.
        let isOfApp = method == .link && facts.settings[SettingCatalogue.nativeGrants]
        guard facts.settings.offers(method) || isOfApp, let metadata = ClientMetadata(recorded: [:])
        else {
            throw .unsupportedGrant
        }
        return GrantDesk(
            request: GrantRequest(
                client: .zero, clientID: "", proof: .none, app: app,
                session: shown.sessionName ?? session, from: from, now: now),
            settings: facts.settings, metadata: metadata, method: .authorizationCode,
            browser: BrowserDesk(
                method: method, digest: digest, replaced: facts.replaced, first: facts.first,
                dependents: facts.dependents, most: most, webApp: webApp, isLong: isLong))
    }

    private func record(_ refusal: GrantRefusal, _ facts: Facts) -> BrowserSessionEvent? {
        guard let reason = refusal.recordedReason else { return nil }
        var from = from
        from.channel = shown.channel(facts.shown) ?? from.channel
        return .refused(
            RefusedBrowser(
                method: method, reason: reason, account: shown.account(facts.shown), app: app,
                from: from))
    }
}

/// A browser in which a person signed in just now.
public struct OpenedBrowser: Sendable, Equatable {
    public let session: UUID
    public let account: UUID
    public let expiresAt: Timestamp
}
