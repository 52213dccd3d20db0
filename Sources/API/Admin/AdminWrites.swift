internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

extension Call<AdminContext> {
    /// The write that this request asks for. With an `Idempotency-Key` the command's id follows
    /// from who asks, in which realm, and the key; what is asked does not count, so that the same
    /// key with another request is noticed and refused.
    func write(in realm: RealmID) -> Write {
        let now = context.time.now(in: realm)
        let id: UUID
        if let key = text("Idempotency-Key") {
            id = Write.command(of: caller.actor, in: realm, key: key)
        } else {
            var random = SystemRandom()
            id = .v7(at: now, using: &random)
        }
        let digest = Write.digest(of: request, body)
        let origin = Origin(caller.actor, of: request, from: request.source, at: now)
        return Write(realm: realm, command: id, digest: digest, origin: origin)
    }

    /// A new name for something that no repeat has to find again.
    func newID() -> UUID {
        var random = SystemRandom()
        return .v7(at: context.now(), using: &random)
    }

    func run<C: Command>(
        _ command: C, as write: Write
    ) async throws(Problem) -> WriteReceipt where C.Rejection: Refusal {
        try await run(command, as: write, orThrow: \.problem)
    }

    func run<C: Command>(
        _ command: C, as write: Write, orThrow problem: (C.Rejection) -> Problem
    ) async throws(Problem) -> WriteReceipt {
        let result = try await context.commands.attempt(
            command, in: write.realm, named: .path, id: write.command, digest: write.digest,
            by: write.origin)
        switch result {
        case .success(let dispatched):
            return WriteReceipt(write: write, positions: dispatched.positions)
        case .failure(let rejection): throw problem(rejection)
        }
    }

    /// The stream as the command left it, also when the command is repeated long after.
    func state<State: StreamState>(
        _ type: State.Type, of stream: UUID, after done: WriteReceipt
    ) async throws(Problem) -> StreamSnapshot<State> {
        try await state(
            type, of: stream, in: done.write.realm,
            upTo: done.positions.last > 0 ? done.positions.last : .max)
    }

    func state<State: StreamState>(
        _ type: State.Type, of stream: UUID, in realm: RealmID, upTo position: Int64 = .max
    ) async throws(Problem) -> StreamSnapshot<State> {
        // The caller knows that the stream exists.
        guard let found = try await stateIfAny(type, of: stream, in: realm, upTo: position) else {
            throw Problem(.internalError)
        }
        return found
    }

    /// Nil for a stream that has no event up to there.
    func stateIfAny<State: StreamState>(
        _ type: State.Type, of stream: UUID, in realm: RealmID, upTo position: Int64 = .max
    ) async throws(Problem) -> StreamSnapshot<State>? {
        let events = try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(stream, after: 0, in: realm)
        }
        var state = State()
        var times: (first: Timestamp, last: Timestamp)?
        for recorded in events where recorded.position <= position {
            guard let event = State.Event(recorded) else { throw Problem(.logDamaged) }
            state.apply(event)
            times = (times?.first ?? recorded.at, recorded.at)
        }
        return times.map {
            StreamSnapshot(state: state, createdAt: $0.first, changedAt: $0.last)
        }
    }

    /// The state of a stream that begins when the realm sets something in it.
    func configuration<State: StreamState>(
        _ type: State.Type, of stream: UUID
    ) async throws(Problem) -> State {
        if let found = try await stateIfAny(type, of: stream, in: try realm) { return found.state }
        try await knownRealm()
        return State()
    }

    func mint(of realm: RealmID) async throws(Problem) -> TokenMint {
        try await reading { () throws(LogFailure) in try await context.mint(realm) }
    }

    func earlier(_ write: Write) async throws(Problem) -> (done: WriteReceipt, stream: UUID)? {
        try await reading { () throws(LogFailure) in
            try await context.commands.events.earlier(write)
        }
    }
}
