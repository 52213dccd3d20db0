internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import Values

extension CommandPort {
    /// Dispatches a command, or says why the domain rejected it.
    func attempt<C: Command>(
        _ command: C, in realm: RealmID, named naming: RealmNaming = .host, id: UUID,
        digest: [UInt8] = [], by origin: Origin
    ) async throws(Problem) -> Result<Dispatched, C.Rejection> {
        try await outcome(named: naming) {
            try await dispatch(command, in: realm, id: id, digest: digest, origin: origin)
        }
    }

    /// The same for a command with an answer. The id must be new: a repeat has no answer.
    func attempt<C: AnsweringCommand>(
        _ command: C, in realm: RealmID, named naming: RealmNaming = .host, id: UUID,
        by origin: Origin
    ) async throws(Problem) -> Result<C.Outcome, C.Rejection> {
        try await outcome(named: naming) {
            let answer = try await ask(command, in: realm, id: id, digest: [], origin: origin)
            guard let outcome = answer.outcome else { throw Problem(.internalError) }
            return outcome
        }
    }

    private func outcome<Value, Rejection: Error>(
        named naming: RealmNaming = .host, _ body: () async throws -> Value
    ) async throws(Problem) -> Result<Value, Rejection> {
        do {
            return .success(try await retriedUntilDecided(body))
        } catch let rejection as Rejection {
            return .failure(rejection)
        } catch let rejection as RealmRejection {
            throw naming.problem(for: rejection)
        } catch let failure as LogFailure {
            throw Problem(of: failure)
        } catch {
            throw Problem(.internalError)
        }
    }
}

/// How a request names its realm: so it is told of one in which nothing is decided.
enum RealmNaming {
    /// By the host that it is sent to.
    case host
    /// In its path, as administrators do.
    case path

    func problem(for rejection: RealmRejection) -> Problem {
        switch (self, rejection) {
        case (.host, .realmNotFound): Problem(.unknownHost)
        case (.host, .realmDisabled): Problem(.realmClosed)
        case (.path, .realmNotFound): Problem(.noSuchRealm)
        case (.path, .realmDisabled): Problem(.realmDisabled)
        }
    }
}

extension RealmContext {
    func origin(_ actor: String, client: String? = nil, of request: Request) -> Origin {
        Origin(actor, client: client, of: request, from: place.address, at: clock.now())
    }

    func nextSubjects() -> NextSubjects { NextSubjects(mailbox: newID(), phone: newID()) }

    /// A new id: ordered by time, and unpredictable.
    func newID() -> UUID {
        var random = SystemRandom()
        return .v7(at: clock.now(), using: &random)
    }
}
