internal import EventSourcing
internal import Identity
internal import ReadModels
internal import Values

/// Looks things up in the realm of a request: in the log itself, and in the read models.
struct RealmLookups {
    let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    /// The events of a stream.
    func events(of stream: UUID) async throws(Problem) -> [Recorded] {
        try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(stream, after: 0, in: context.place.realm)
        }
    }

    /// The same as they were at a moment or later: of the streams that a command relied on which was carried out
    /// since then, the log need not be asked.
    func events(
        of stream: UUID, since moment: ContinuousClock.Instant
    ) async throws(Problem) -> [Recorded] {
        try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(
                stream, since: moment, in: context.place.realm)
        }
    }

    /// The state of a stream, folded from the log itself.
    func folded<State: StreamState>(
        _ type: State.Type, _ stream: UUID
    ) async throws(Problem) -> State {
        let recorded = try await events(of: stream)
        var state = State()
        // The request may name a stream of another kind.
        guard State.Event.catalogue.contains(where: { $0.name == recorded.first?.name }) else {
            return state
        }
        for event in recorded {
            guard let event = State.Event(event) else { throw Problem(.logDamaged) }
            state.apply(event)
        }
        return state
    }

    /// An unknown client name is no error yet: it redeems nothing.
    func client(named name: String?) async throws(Problem) -> KnownClient? {
        guard let name else { return nil }
        return try await context.ask(KnownClient.byClientID, name)
    }

    func passkeys(of account: UUID) async throws(Problem) -> [PasskeyView] {
        try await context.ask(PasskeyView.ofAccount, account)
    }

    func passkey(ofCredential id: [UInt8]) async throws(Problem) -> PasskeyView? {
        try await context.ask(PasskeyView.byCredential, id)
    }

    /// All sessions of an account that are not over, those that rest too, as far as they are wanted.
    func openSessions(
        of account: UUID, where isWanted: (OpenSessionView) -> Bool = { _ in true }
    ) async throws(Problem) -> [OpenSessionView] {
        try await lasting(try await heldSessions(of: account, where: isWanted))
    }

    /// The same, with those that end with one above them and have no event that says so: a list looks at what it shows
    /// alone.
    func heldSessions(
        of account: UUID, where isWanted: (OpenSessionView) -> Bool = { _ in true }
    ) async throws(Problem) -> [OpenSessionView] {
        try await reading { () throws(LogFailure) in
            try await context.queries.sessions(
                of: account, in: context.place.realm, at: context.clock.now(), where: isWanted)
        }
    }

    /// A page of them, newest first, those that are wanted alone.
    func heldSessions(
        of account: UUID, _ page: FederatedPage, where isWanted: (OpenSessionView) -> Bool
    ) async throws(Problem) -> FederatedPage.Items<OpenSessionView> {
        var found: [OpenSessionView] = []
        try await reading { () throws(LogFailure) in
            try await context.queries.sessions(
                of: account, in: context.place.realm, at: context.clock.now(), after: page.after
            ) { session in
                if isWanted(session) { found.append(session) }
                return found.count <= page.limit
            }
        }
        return page.items(of: found, \.id)
    }

    /// The sessions that have not ended. A session below one that has ended is over, and has no event that says so.
    func lasting(_ sessions: [OpenSessionView]) async throws(Problem) -> [OpenSessionView] {
        let found = try await each(sessions) { session throws(Problem) in
            try await isLasting(session)
        }
        return zip(sessions, found).filter(\.1).map(\.0)
    }

    func isLasting(_ session: OpenSessionView) async throws(Problem) -> Bool {
        if session.terms.federation == nil { return true }
        return try await context.lasting(session.id) != nil
    }

    /// Asks the same of many, hundreds at once: what is looked up for all of them is one look-up then.
    func each<Element: Sendable, Value: Sendable>(
        _ elements: [Element], _ ask: @escaping @Sendable (Element) async throws(Problem) -> Value
    ) async throws(Problem) -> [Value] {
        var answers: [Value] = []
        answers.reserveCapacity(elements.count)
        for first in stride(from: 0, to: elements.count, by: Self.atOnce) {
            let part = elements[first..<min(first + Self.atOnce, elements.count)]
            let found = await withTaskGroup(of: (Int, Result<Value, Problem>).self) { group in
                for (place, element) in zip(part.indices, part) {
                    group.addTask {
                        do throws(Problem) {
                            return (place, .success(try await ask(element)))
                        } catch {
                            return (place, .failure(error))
                        }
                    }
                }
                var found: [(Int, Result<Value, Problem>)] = []
                for await answer in group { found.append(answer) }
                return found
            }
            for (_, answer) in found.sorted(by: { $0.0 < $1.0 }) {
                answers.append(try answer.get())
            }
        }
        return answers
    }

    private static let atOnce = 500

    /// All browsers that an account is signed in with.
    func openBrowsers(of account: UUID) async throws(Problem) -> [BrowserSessionView] {
        try await reading { () throws(LogFailure) in
            try await context.queries.browserSessions(
                of: account, in: context.place.realm, at: context.clock.now())
        }
    }

    /// What holds in an app, wherever it was asked for; where none is named, what holds here. Nil:
    /// the app is gone.
    func settings(ofApp app: UUID?) async throws(Problem) -> Settings? {
        guard let app, app != context.place.app else { return context.place.settings }
        return try await context.ask(AppView.settings, app)
    }

    func consents(of account: UUID) async throws(Problem) -> [ConsentView] {
        try await context.ask(ConsentView.ofAccount, account)
    }

    func appMethods(of account: UUID) async throws(Problem) -> [AppMethodView] {
        try await context.ask(AppMethodView.ofAccount, account)
    }

    /// The identity providers that pages offer, as they were a moment ago at worst.
    func providerLabels() async throws(Problem) -> [ProviderLabel] {
        try await reading { () throws(LogFailure) in
            try await context.shared.providers.all(in: context.place.realm)
        }
    }

    /// The identity providers that users may sign in by.
    func providers() async throws(Problem) -> [Provider] {
        try await folded(Providers.self, Providers.stream).all
    }

    func provider(_ slug: String) async throws(Problem) -> Provider? {
        try await folded(Providers.self, Providers.stream)[slug]
    }

    func webApp(_ id: UUID) async throws(Problem) -> WebAppView? {
        try await context.ask(WebAppView.byID, id)
    }
}
