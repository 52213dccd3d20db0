internal import HTTP
internal import Synchronization

/// Answers that are the same for everybody who asks at a host, until something changes in its realm: it is
/// part of the host's `Ground`, and goes with it. Only routes that say so of themselves put anything here.
final class Shelf: Sendable {
    private let answers = Mutex<[String: Response]>([:])

    subscript(path: String) -> Response? {
        get { answers.withLock { $0[path] } }
        set { answers.withLock { $0[path] = newValue } }
    }
}
