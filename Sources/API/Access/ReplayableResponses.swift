internal import EventSourcing
internal import HTTP
import Synchronization

/// Answers that came after their callers had been told 503, for callers who ask the same again.
///
/// What a request has put on record when its caller is told that it takes too long is done all the
/// same: its code or refresh token is used up. A client that sends the very same request again gets the
/// answer of the first: within five minutes, and at this node alone. That gives nothing to a thief of the
/// request, who could have sent it first. Requests that put nothing on record have used nothing up, and
/// are carried out anew.
final class ReplayableResponses: Sendable {
    typealias Answer = Result<Response, Problem>
    /// What tells a request from all others. Nil for a request that cannot be repeated.
    typealias Name = @Sendable () -> [UInt8]?

    private static let patience: Duration = .seconds(300)
    private static let most = 4096

    /// Requests whose callers are gone, and which may be on record or are.
    private struct RepeatedRequests {
        /// Requests whose outcome is not known yet.
        var underWay = 0
        /// The refusal of one request, while another may still succeed.
        var refused: Answer?
        /// Who asked again meanwhile, the last one at the end.
        var waiting: [(number: UInt64, caller: Caller)] = []
    }

    private typealias Caller = CheckedContinuation<Word, Never>

    private enum Late {
        case awaited(RepeatedRequests)
        case kept(Answer, since: Duration)
    }

    /// What a caller that waits in a line is told.
    private enum Word {
        /// The request is unknown.
        case unknown
        case answer(Answer)
        /// Nothing is on record: this waiting caller carries the request out, for all who wait.
        case yourTurn
        /// The waiting caller has been told 503 as well.
        case gone
    }

    private struct State {
        var late: [[UInt8]: Late] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())
    /// How many there are, so that all the others need no lock.
    private let count = Atomic<Int>(0)
    private let passed: @Sendable () -> Duration

    init(passed: @escaping @Sendable () -> Duration) {
        self.passed = passed
    }

    /// Carries a request out, unless the same one was carried out before and its caller was gone by then.
    func answer(
        _ name: @escaping Name, in scope: RequestScope,
        _ work: () async throws(Problem) -> Response
    ) async throws(Problem) -> Response {
        guard count.load(ordering: .acquiring) > 0, let known = name() else {
            return try await lead(name, in: scope, isExpected: false, work)
        }
        switch await find(known, for: scope) {
        case .answer(let answer):
            // The caller that asked again has gone as well: the answer is kept for the next one.
            if scope.isGone { change { keep(answer, known, &$0) } }
            return try answer.get()
        case .gone: throw Problem(.busy)
        case .yourTurn: return try await lead({ known }, in: scope, isExpected: true, work)
        case .unknown: return try await lead({ known }, in: scope, isExpected: false, work)
        }
    }

    /// - Parameter isExpected: whether others wait for what comes of it.
    private func lead(
        _ name: @escaping Name, in scope: RequestScope, isExpected: Bool,
        _ work: () async throws(Problem) -> Response
    ) async throws(Problem) -> Response {
        let expected = Expected(isExpected ? name() : nil)
        let answer = await withTaskCancellationHandler { () -> Answer in
            do throws(Problem) {
                return .success(try await work())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            guard scope.leave(), let known = name() else { return }
            expected.name.withLock { expected in
                guard expected == nil else { return }
                expected = known
                expect(known)
            }
        }
        if let known = expected.name.withLock({ $0 }) { settle(known, answer, scope) }
        return try answer.get()
    }

    /// The name of a request that others ask for, once they may.
    private final class Expected: Sendable {
        let name: Mutex<[UInt8]?>

        init(_ name: [UInt8]?) {
            self.name = Mutex(name)
        }
    }

    /// What became of the same request, or is about to.
    private func find(_ name: [UInt8], for scope: RequestScope) async -> Word {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                if let word = enter(name, number, caller, scope) { caller.resume(returning: word) }
            }
        } onCancel: {
            scope.leave()
            leave(name, number)
        }
    }

    /// Nil where there is a line, in which the caller waits now.
    private func enter(
        _ name: [UInt8], _ number: UInt64, _ caller: Caller, _ scope: RequestScope
    ) -> Word? {
        change { state in
            switch state.late[name] {
            case nil: return .unknown
            case .kept(let answer, _):
                state.late[name] = nil
                return .answer(answer)
            case .awaited(var line):
                if scope.isGone { return .gone }
                line.waiting.append((number, caller))
                state.late[name] = .awaited(line)
                return nil
            }
        }
    }

    private func leave(_ name: [UInt8], _ number: UInt64) {
        let caller: Caller? = change { state in
            guard case .awaited(var line) = state.late[name],
                let place = line.waiting.firstIndex(where: { $0.number == number })
            else { return nil }
            defer { state.late[name] = .awaited(line) }
            return line.waiting.remove(at: place).caller
        }
        caller?.resume(returning: .gone)
    }

    private func expect(_ name: [UInt8]) {
        change { state in
            switch state.late[name] {
            case nil: state.late[name] = .awaited(RepeatedRequests(underWay: 1))
            case .awaited(var line):
                line.underWay += 1
                state.late[name] = .awaited(line)
            case .kept: break
            }
        }
    }

    /// Hands an answer to all who wait for it, or the request to the last one of them.
    private func settle(_ name: [UInt8], _ answer: Answer, _ scope: RequestScope) {
        // What is not on record was not done, and a failure is no answer.
        let isDone = scope.hasAppended && !answer.isFailure
        let (told, word): ([Caller], Word) = change { state in
            guard case .awaited(var line) = state.late[name] else {
                if isDone, scope.isGone { keep(answer, name, &state) }
                return ([], .gone)
            }
            line.underWay -= 1
            if isDone, case .failure = answer { line.refused = answer }
            guard isDone, case .success = answer else {
                return next(name, line, scope, &state)
            }
            return end(name, line, answer, scope, &state)
        }
        for caller in told { caller.resume(returning: word) }
    }

    private func next(
        _ name: [UInt8], _ line: RepeatedRequests, _ scope: RequestScope, _ state: inout State
    ) -> ([Caller], Word) {
        var line = line
        if line.underWay == 0 {
            if let refused = line.refused { return end(name, line, refused, scope, &state) }
            guard let last = line.waiting.popLast() else {
                state.late[name] = nil
                return ([], .gone)
            }
            line.underWay = 1
            state.late[name] = .awaited(line)
            return ([last.caller], .yourTurn)
        }
        state.late[name] = .awaited(line)
        return ([], .gone)
    }

    private func end(
        _ name: [UInt8], _ line: RepeatedRequests, _ answer: Answer, _ scope: RequestScope,
        _ state: inout State
    ) -> ([Caller], Word) {
        state.late[name] = nil
        if line.waiting.isEmpty, scope.isGone { keep(answer, name, &state) }
        return (line.waiting.map(\.caller), .answer(answer))
    }

    private func keep(_ answer: Answer, _ name: [UInt8], _ state: inout State) {
        switch state.late[name] {
        case .awaited: return
        case .kept(.success, _): return
        case .kept(.failure, _): break
        case nil: guard state.late.count < Self.most else { return }
        }
        state.late[name] = .kept(answer, since: passed())
    }

    /// They are secrets: an answer that expired unclaimed is dropped with the next request of any
    /// caller.
    private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let now = passed()
        return state.withLock { state in
            for (name, entry) in state.late {
                guard case .kept(_, let since) = entry, now - since >= Self.patience else {
                    continue
                }
                state.late[name] = nil
            }
            defer { count.store(state.late.count, ordering: .releasing) }
            return body(&state)
        }
    }
}

extension Result where Success == Response, Failure == Problem {
    fileprivate var isFailure: Bool {
        switch self {
        case .success(let response): response.status.code >= 500
        case .failure(let problem): problem.kind.status.code >= 500
        }
    }
}
