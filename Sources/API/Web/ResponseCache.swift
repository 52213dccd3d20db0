internal import HTTP
internal import Synchronization

/// Answers that are the same for everybody who asks at a host, until something changes in its realm: it is
/// part of the host's `HostConfiguration`, and goes with it. Only routes that say so of themselves put anything here.
final class ResponseCache: Sendable {
    /// As few as there are such routes: comparing takes less than looking up.
    private let answers = Mutex<[(path: String, response: Response)]>([])

    subscript(path: String) -> Response? {
        answers.withLock { answers in answers.first { $0.path == path }?.response }
    }

    func put(_ response: Response, at path: String) {
        answers.withLock { answers in
            answers.removeAll { $0.path == path }
            answers.append((path, response))
        }
    }
}
