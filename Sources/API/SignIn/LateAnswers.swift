internal import Cryptography
internal import HTTP
import Synchronization
internal import Values

/// Answers that came after their callers had been told 503, for callers who ask the same again.
///
/// What a request does when the log is slow is done all the same, a little later: its code or refresh token
/// is used up by then. Whoever asks again with the very same request meant that one, and has its answer:
/// once, within a minute, and at this node alone. Whoever else knows the request could have sent it first.
final class LateAnswers: Sendable {
    private static let patience: Duration = .seconds(60)
    private static let most = 1024

    private enum Late {
        /// Nobody knows yet what comes of it. These asked again.
        case awaited(since: Duration, [CheckedContinuation<Response?, Never>])
        case kept(Response, since: Duration)

        var since: Duration {
            switch self {
            case .awaited(let since, _), .kept(_, let since): since
            }
        }
    }

    private let late = Mutex<[[UInt8]: Late]>([:])
    /// How many there are, so that all the others need no lock.
    private let count = Atomic<Int>(0)
    private let passed: @Sendable () -> Duration

    init(passed: @escaping @Sendable () -> Duration) {
        self.passed = passed
    }

    /// The answer to the same request, whose caller had gone by then.
    func answer(to request: Request, at host: String) async -> Response? {
        guard count.load(ordering: .acquiring) > 0, let name = Self.name(of: request, host) else {
            return nil
        }
        let answer: Response? = await withCheckedContinuation { waiting in
            let found: Response?? = late.withLock { late in
                forgetOld(&late)
                switch late[name] {
                case .awaited(let since, let others):
                    late[name] = .awaited(since: since, others + [waiting])
                    return .none
                case .kept(let response, _):
                    remove(name, &late)
                    return .some(response)
                case nil: return .some(nil)
                }
            }
            if case .some(let response) = found { waiting.resume(returning: response) }
        }
        // Who asked again has gone as well.
        if let answer, Task.isCancelled { late.withLock { keep(answer, name, &$0) } }
        return answer
    }

    /// Answers a request; if its caller is told meanwhile that it takes too long, the answer is kept.
    func keeping(
        _ request: Request, at host: String,
        _ work: () async throws(Problem) -> Response
    ) async throws(Problem) -> Response {
        let done = await withTaskCancellationHandler {
            do throws(Problem) {
                return Result<Response, Problem>.success(try await work())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            expect(request, host)
        }
        if Task.isCancelled { settle(request, host, try? done.get()) }
        return try done.get()
    }

    private func expect(_ request: Request, _ host: String) {
        guard let name = Self.name(of: request, host) else { return }
        late.withLock { late in
            forgetOld(&late)
            guard late.count < Self.most, late[name] == nil else { return }
            late[name] = .awaited(since: passed(), [])
            count.add(1, ordering: .releasing)
        }
    }

    /// They are secrets: what nobody came for goes with the next request, whosever it is.
    private func forgetOld(_ late: inout [[UInt8]: Late]) {
        let now = passed()
        for (name, entry) in late where now - entry.since >= Self.patience {
            guard case .kept = entry else { continue }
            remove(name, &late)
        }
    }

    private func settle(_ request: Request, _ host: String, _ response: Response?) {
        guard let name = Self.name(of: request, host) else { return }
        let waiting = late.withLock { late in
            var waiting: [CheckedContinuation<Response?, Never>] = []
            if case .awaited(_, let others) = late[name] {
                waiting = others
                remove(name, &late)
            }
            if let response, waiting.isEmpty { keep(response, name, &late) }
            return waiting
        }
        // One of them has the answer; the others are what they would be without an outage.
        for (place, one) in waiting.enumerated() {
            one.resume(returning: place == 0 ? response : nil)
        }
    }

    private func keep(_ response: Response, _ name: [UInt8], _ late: inout [[UInt8]: Late]) {
        guard late.count < Self.most, late[name] == nil else { return }
        late[name] = .kept(response, since: passed())
        count.add(1, ordering: .releasing)
    }

    private func remove(_ name: [UInt8], _ late: inout [[UInt8]: Late]) {
        late[name] = nil
        count.subtract(1, ordering: .releasing)
    }

    /// Nil for what shows a proof of a key, which is another one each time.
    private static func name(of request: Request, _ host: String) -> [UInt8]? {
        guard request.headers["DPoP"] == nil else { return nil }
        let shown = request.headers.all("Authorization").joined(separator: "\n")
        return SHA256.hash(Array("\(host)\n\(shown)\n\n".utf8) + request.body)
    }
}
