internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import Values

extension CommandPort {
    /// What came of a command, or why the domain refused it.
    func tried<C: Command>(
        _ command: C, in realm: RealmID, id: UUID, digest: [UInt8] = [], by origin: Origin
    ) async throws(Problem) -> Result<Dispatched, C.Rejection> {
        do {
            return .success(
                try await retriedUntilDecided {
                    try await dispatch(command, in: realm, id: id, digest: digest, origin: origin)
                })
        } catch let refusal as C.Rejection {
            return .failure(refusal)
        } catch let failure as LogFailure {
            throw Problem(of: failure)
        } catch {
            throw Problem(.internalError)
        }
    }
}

extension RealmContext {
    func origin(_ actor: String, client: String? = nil, of request: Request) -> Origin {
        Origin(actor, client: client, of: request, from: place.address, at: clock.now())
    }

    /// A new name for something: ordered by time, and not to be guessed.
    func newID() -> UUID {
        var random = SystemRandom()
        return .v7(at: clock.now(), using: &random)
    }
}

extension Call<RealmContext> {
    func newID() -> UUID { context.newID() }

    func origin(_ actor: String, client: String? = nil) -> Origin {
        context.origin(actor, client: client, of: request)
    }

    /// Carries a command out; says why it was refused, if it was.
    func attempt<C: Command>(
        _ command: C, as actor: String, client: String? = nil
    ) async throws(Problem) -> C.Rejection? {
        let result = try await context.commands.tried(
            command, in: context.place.realm, id: newID(), by: origin(actor, client: client))
        if case .failure(let refusal) = result { return refusal }
        return nil
    }

    /// Carries a command out.
    @discardableResult
    func dispatch<C: Command>(
        _ command: C, as actor: String, client: String? = nil
    ) async throws(Problem) -> Dispatched where C.Rejection: Refusal {
        let result = try await context.commands.tried(
            command, in: context.place.realm, id: newID(), by: origin(actor, client: client))
        switch result {
        case .success(let dispatched): return dispatched
        case .failure(let refusal): throw refusal.problem
        }
    }
}
