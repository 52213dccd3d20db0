internal import EventSourcing
internal import Identity
internal import Values

/// Dispatches commands in the realm of a request.
struct Commands {
    private let call: Call<RealmContext>

    init(_ call: Call<RealmContext>) { self.call = call }

    /// Dispatches a command; throws what its caller is told of a rejection.
    @discardableResult
    func dispatch<C: Command>(
        _ command: C, as caller: Caller
    ) async throws(Problem) -> Dispatched where C.Rejection: Refusal {
        try await dispatch(command, as: caller, orThrow: \.problem)
    }

    /// Dispatches a command; throws what its caller is told of a rejection.
    @discardableResult
    func dispatch<C: Command>(
        _ command: C, as caller: Caller, orThrow problem: (C.Rejection) -> Problem
    ) async throws(Problem) -> Dispatched {
        let result = try await givingBack { () throws(Problem) in
            try await port.attempt(
                command, in: realm, id: call.context.newID(), by: origin(of: caller))
        }
        switch result {
        case .success(let dispatched): return dispatched
        case .failure(let rejection): throw problem(rejection)
        }
    }

    /// Dispatches a command; throws what its caller is told of a rejection.
    @discardableResult
    func dispatch<C: AnsweringCommand>(
        _ command: C, as caller: Caller
    ) async throws(Problem) -> C.Outcome where C.Rejection: Refusal {
        switch try await attempt(command, as: caller) {
        case .success(let outcome): return outcome
        case .failure(let rejection): throw rejection.problem
        }
    }

    /// Dispatches a command; its rejection, if any, is for the handler to answer.
    func attempt<C: Command>(
        _ command: C, as caller: Caller
    ) async throws(Problem) -> C.Rejection? {
        let result = try await givingBack { () throws(Problem) in
            try await port.attempt(
                command, in: realm, id: call.context.newID(), by: origin(of: caller))
        }
        switch result {
        case .success: return nil
        case .failure(let rejection): return rejection
        }
    }

    /// Dispatches a command; its rejection, if any, is for the handler to answer.
    func attempt<C: AnsweringCommand>(
        _ command: C, as caller: Caller
    ) async throws(Problem) -> Result<C.Outcome, C.Rejection> {
        try await givingBack { () throws(Problem) in
            try await port.attempt(
                command, in: realm, id: call.context.newID(), by: origin(of: caller))
        }
    }

    private var port: any CommandPort { call.context.commands }
    private var realm: RealmID { call.context.place.realm }

    private func origin(of caller: Caller) -> Origin {
        call.context.origin(caller.name, client: caller.client, of: call.request)
    }

    /// An outage does not count as an attempt.
    private func givingBack<Value>(
        _ body: () async throws(Problem) -> Value
    ) async throws(Problem) -> Value {
        do throws(Problem) {
            return try await body()
        } catch {
            RateCounter(call).giveBack()
            throw error
        }
    }
}

extension Commands {
    /// The caller that a command is dispatched for, as the log names them.
    struct Caller: Sendable {
        let name: String
        /// The client id of the client that acts for them.
        let client: String?

        init(_ name: String, client: String? = nil) {
            self.name = name
            self.client = client
        }

        static var anonymous: Caller { Caller("anonymous") }

        static func user(_ account: UUID, client: String? = nil) -> Caller {
            Caller("user:\(account)", client: client)
        }

        /// The user who is signed in with a browser.
        static func browser(_ browser: SignedInBrowser) -> Caller { .user(browser.subject) }

        /// A client that acts for itself.
        static func client(_ clientID: String) -> Caller {
            Caller("client:\(clientID)", client: clientID)
        }
    }
}

extension Commands {
    /// Puts on record that a token was refused which this server gave.
    func recordRefused(
        refreshOf session: UUID, by client: UUID, _ clientID: String
    ) async throws(Problem) {
        _ = try await attempt(
            RecordRefusedRefresh(
                session: session, client: client, clientID: clientID,
                from: call.context.signInPlace(of: call.request),
                now: call.context.clock.now()), as: .client(clientID))
    }
}
