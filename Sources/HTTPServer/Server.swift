public import HTTP

/// An HTTP/1.1 server over libmicrohttpd.
///
/// A request whose answer is ready gets it at once. Every other is answered by a task that runs the
/// handler. The task begins on the thread that read the request; from the first time that the
/// handler waits for something its connection is suspended, and the thread serves others. So neither
/// may block, and a long computation belongs behind an `await`. Limits, deadline and shutdown are
/// described with `Configuration` and `stop`.
public final class Server: Sendable {
    let core: Core

    /// Listens and serves from here on. The handler's task is cancelled when its deadline passes. What is
    /// `ready` needs none. Where none comes in time, or the server stops, `unanswered` may say it in
    /// words that the request's sender expects; it is told why, and must not wait for anything.
    public init(
        _ configuration: Configuration,
        ready: @escaping @Sendable (Request) -> Response? = { _ in nil },
        unanswered: @escaping @Sendable (Request, String) -> Response? = { _, _ in nil },
        handler: @escaping @Sendable (Request) async -> Response
    ) throws(Failure) {
        core = try Core.start(configuration, ready, unanswered, handler)
    }

    /// Where the server listens.
    public var port: UInt16 { core.port }

    public var statistics: Statistics { core.statistics }

    /// Takes no further connections, lets the requests in flight finish, and stops. What has not
    /// finished after `drain` is answered with 503 and its task is cancelled.
    public func stop(drain: Duration) async {
        await core.stop(drain: drain)
    }

    deinit {
        let core = core
        Task.detached { await core.stop(drain: .zero) }
    }
}

/// Counters since the start, and current values.
public struct Statistics: Sendable, Equatable {
    /// Open connections.
    public let connections: Int
    /// Requests of which at least the first line has arrived and that are not over.
    public let liveRequests: Int
    /// Responses whose bodies are being produced.
    public let streams: Int
    /// Requests whose first line has arrived.
    public let requests: Int
    /// Requests that no handler saw because they broke a rule or a limit.
    public let refused: Int
    /// Connections closed at once because there were too many.
    public let turnedAway: Int
    /// Handlers that exceeded the deadline.
    public let overdue: Int
    /// Connections closed because their client was too slow.
    public let closedSlow: Int
}
