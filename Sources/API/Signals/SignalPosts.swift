public import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
public import Values

/// A signal to be posted to its receiver (RFC 8935).
public struct SignalPost: Sendable {
    public let endpoint: String
    /// Nil: the receiver asked for none.
    public let authorization: String?
    public let token: String
    let jti: String
    let attempts: Int
}

/// What there is to be done for a stream now.
public enum SignalWork: Sendable {
    /// There is no such stream, or nothing is pushed to it: it need not be looked at until it is listed
    /// again.
    case none
    /// Nothing until the log has gone on from there, or it is that time.
    case wait(past: Int64, until: Timestamp?)
    case post([SignalPost])
    /// It is given up for now: the receiver has to resume it.
    case pause(reason: String)
}

/// What the receiver of a post answered; nil where it did not.
public struct SignalReceipt: Sendable {
    let status: Int
    let body: [UInt8]
    /// Seconds.
    let retryAfter: Int64?

    public init(status: Int, body: [UInt8], retryAfter: Int64?) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

extension SignalReader {
    /// So many are on their way to one receiver at once, of one account one.
    private static let mostAtOnce = 8
    /// After so many seconds of nothing but failures a stream is paused.
    private static let patience: Int64 = 86_400
    private static let pauses: [Int64] = [2, 10, 60, 300, 1_800, 3_600]
    /// One that is not taken while others are is given up after about a day.
    private static let mostAttempts = 28

    public func work(for id: UUID, in realm: RealmID) async throws(LogFailure) -> SignalWork {
        guard let stream = try await stream(id, in: realm), stream.state.status == .enabled else {
            return .none
        }
        guard case .push(let endpoint, let authorization) = stream.state.settings.delivery else {
            return try await isForsaken(stream, in: realm)
                ? .pause(reason: "The stream was not polled.") : .none
        }
        let now = now(realm)
        guard try await mayReceive(stream, in: realm) else {
            return .wait(past: try await events.head(of: realm).position, until: nil)
        }
        let position = try await prepare(stream, in: realm)
        let cursor = try await queries.signalCursor(of: id, in: realm)
        if let since = cursor?.failingSince, now >= since.adding(seconds: Self.patience) {
            return .pause(reason: "The receiver could not be reached for a day.")
        }
        if let nextAt = cursor?.nextAt, now < nextAt { return .wait(past: .max, until: nextAt) }
        let foremost = try await queries.foremostSignals(
            of: id, in: realm, at: now, limit: Self.mostAtOnce)
        guard !foremost.isEmpty else {
            // Where there is no room for more, the log does not go on for this stream.
            let isFull = cursor?.pending ?? 0 >= Self.mostPending
            return .wait(past: isFull ? .max : position, until: nil)
        }
        let made = try await tokens(for: foremost, of: stream, in: realm)
        if !made.pointless.isEmpty {
            try await queries.confirmSignals(made.pointless, of: id, in: realm)
        }
        return .post(
            made.ready.map {
                SignalPost(
                    endpoint: endpoint, authorization: authorization, token: $0.token,
                    jti: $0.signal.jti, attempts: $0.signal.attempts)
            })
    }

    /// Whether a stream waits for its receiver to poll it.
    private func isForsaken(
        _ stream: KnownSignalStream, in realm: RealmID
    ) async throws(LogFailure) -> Bool {
        guard let cursor = try await queries.signalCursor(of: stream.id, in: realm) else {
            // From its first look on it has a time.
            _ = try await prepare(stream, in: realm)
            return false
        }
        return now(realm)
            >= cursor.heardAt.adding(seconds: SignalStreamDocument.inactivityTimeout)
    }

    /// The receiver has it, or refuses it for good. True: that is settled, and the next one can go.
    public func settle(
        _ post: SignalPost, by receipt: SignalReceipt?, of stream: UUID, in realm: RealmID
    ) async throws(LogFailure) -> Bool {
        guard let receipt else { return false }
        if (200..<300).contains(receipt.status) {
            try await queries.confirmSignals([post.jti], of: stream, in: realm)
            return true
        }
        guard let reason = receipt.refusal, !receipt.isAboutKeys else { return false }
        try await queries.refuseSignal(post.jti, because: reason, of: stream, in: realm)
        return true
    }

    /// Some were not settled. Where others were, each of them waits by itself; else all wait together.
    /// - Returns: why the stream is to be paused, if it is.
    public func postpone(
        _ posts: [(post: SignalPost, receipt: SignalReceipt?)], othersSettled: Bool,
        of stream: UUID, in realm: RealmID
    ) async throws(LogFailure) -> String? {
        guard !posts.isEmpty else { return nil }
        let now = now(realm)
        if othersSettled {
            for (post, _) in posts {
                guard post.attempts < Self.mostAttempts else {
                    try await queries.refuseSignal(
                        post.jti, because: "undeliverable", of: stream, in: realm)
                    continue
                }
                let pause = Self.pauses[min(post.attempts, Self.pauses.count - 1)]
                try await queries.deferSignal(
                    post.jti, of: stream, in: realm, until: now.adding(seconds: pause))
            }
            return nil
        }
        let failures = try await queries.signalCursor(of: stream, in: realm)?.failures ?? 0
        let asked = posts.compactMap { $0.receipt?.retryAfter }.max() ?? 0
        let pause = max(
            Self.pauses[min(failures, Self.pauses.count - 1)], min(asked, 3_600))
        try await queries.deferSignals(
            of: stream, in: realm, until: now.adding(seconds: pause))
        // That the keys or the credentials are wrong is so for all of them.
        let isAboutKeys = posts.contains { $0.receipt?.isAboutKeys == true }
        return isAboutKeys && failures >= 2
            ? "The receiver refuses the transmitter's credentials or keys." : nil
    }
}

extension SignalReceipt {
    /// RFC 8935 section 2.4: the receiver says why.
    fileprivate var refusal: String? {
        guard status == 400, let reason = (try? JSON.parse(body))?["err"]?.string else {
            return nil
        }
        return String(reason.prefix(100))
    }

    fileprivate var isAboutKeys: Bool {
        ["authentication_failed", "invalid_key"].contains(refusal)
    }
}
