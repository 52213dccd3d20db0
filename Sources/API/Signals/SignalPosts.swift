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
    /// No post is due before there is a new signal for the stream.
    case wait(SignalRest)
    case post([SignalPost])
    /// It is given up for now: the receiver has to resume it.
    case pause(reason: String)
}

/// A stream for which there is nothing to be done now.
public struct SignalRest: Sendable {
    let stream: KnownSignalStream
    /// The position up to which the stream has all events; nil: no event matters now.
    let position: Int64?
    let longest: Duration
}

/// What the receiver of a post answered; nil where it did not.
public struct SignalReceipt: Sendable {
    let status: Int
    let body: [UInt8]
    /// Seconds of the response's Retry-After.
    let retryAfter: Int64?

    public init(status: Int, body: [UInt8], retryAfter: Int64?) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

/// What became of some posts.
public struct SignalSettlement: Sendable {
    public let taken: Int
    /// Number of signals that were refused for good.
    public let refused: Int
    /// The signals that are not settled.
    public let rest: [(post: SignalPost, receipt: SignalReceipt?)]
}

extension SignalReader {
    /// So many are on their way to one receiver at once, of one account one.
    private static let mostAtOnce = 8
    /// After so many seconds of nothing but failures a stream is paused.
    private static let patience: Int64 = 86_400
    private static let pauses: [Int64] = [2, 10, 60, 300, 1_800, 3_600]
    /// A signal that the receiver refuses while it accepts others is given up after about a day.
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
            return .wait(SignalRest(stream: stream, position: nil, longest: .seconds(5)))
        }
        let position = try await prepare(stream, in: realm)
        let cursor = try await queries.signalCursor(of: id, in: realm)
        if let since = cursor?.failingSince,
            now >= max(since, stream.enabledAt).adding(seconds: Self.patience)
        {
            return .pause(reason: "The receiver could not be reached for a day.")
        }
        if let nextAt = cursor?.nextAt, now < nextAt {
            let longest = Duration.microseconds(max(1_000, nextAt.microseconds(since: now)))
            return .wait(SignalRest(stream: stream, position: nil, longest: longest))
        }
        let foremost = first(
            try await queries.foremostSignals(of: id, in: realm, at: now, limit: Self.mostAtOnce))
        guard !foremost.isEmpty else {
            let pending = cursor?.pending ?? 0
            // Where there is no room for more, the log does not go on for this stream.
            return .wait(
                SignalRest(
                    stream: stream, position: pending >= Self.mostPending ? nil : position,
                    longest: pending > 0 ? .seconds(1) : .seconds(5)))
        }
        let made = try await tokens(for: foremost, of: stream, in: realm)
        if !made.pointless.isEmpty {
            try await queries.confirmSignals(made.pointless, of: id, in: realm, at: now)
        }
        return .post(
            made.ready.map {
                SignalPost(
                    endpoint: endpoint, authorization: authorization, token: $0.token,
                    jti: $0.signal.jti, attempts: $0.signal.attempts)
            })
    }

    /// That the transmitter changed the stream's status is told before all else.
    private func first(_ foremost: [PendingSignal]) -> [PendingSignal] {
        foremost.first?.type == SignalOffer.streamUpdated ? Array(foremost.prefix(1)) : foremost
    }

    /// Returns once there may be something to be done for a stream again.
    public func wait(_ rest: SignalRest) async throws(LogFailure) {
        try await self.rest(rest.stream, past: rest.position, atMost: rest.longest)
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
            >= max(cursor.heardAt, stream.enabledAt)
            .adding(seconds: SignalStreamDocument.inactivityTimeout)
    }

    /// The receiver has them, or refuses them for good.
    public func settle(
        _ answers: [(post: SignalPost, receipt: SignalReceipt?)], of stream: UUID, in realm: RealmID
    ) async throws(LogFailure) -> SignalSettlement {
        let now = now(realm)
        let taken = answers.filter { $0.receipt?.isTaken == true }.map(\.post.jti)
        if !taken.isEmpty {
            try await queries.confirmSignals(taken, of: stream, in: realm, at: now)
        }
        var rest: [(post: SignalPost, receipt: SignalReceipt?)] = []
        for (post, receipt) in answers where receipt?.isTaken != true {
            guard let receipt, let reason = receipt.refusal, !receipt.isAboutKeys else {
                rest.append((post, receipt))
                continue
            }
            try await queries.refuseSignal(
                post.jti, because: reason, of: stream, in: realm, at: now)
        }
        return SignalSettlement(
            taken: taken.count, refused: answers.count - taken.count - rest.count, rest: rest)
    }

    /// Some signals were not settled. Where others were, each of them waits by itself; else all wait together.
    /// - Returns: the reason to pause the stream, if there is one.
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
                        post.jti, because: "undeliverable", of: stream, in: realm, at: now)
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
            of: stream, in: realm, at: now, until: now.adding(seconds: pause))
        // That the keys or the credentials are wrong is so for all of them.
        let isAboutKeys = posts.contains { $0.receipt?.isAboutKeys == true }
        return isAboutKeys && failures >= 2
            ? "The receiver refuses the transmitter's credentials or keys." : nil
    }
}

extension SignalReceipt {
    fileprivate var isTaken: Bool { (200..<300).contains(status) }

    /// RFC 8935 section 2.4: the receiver says why.
    fileprivate var refusal: String? {
        guard status == 400, let reason = (try? JSON.parse(body, limits: .foreign))?["err"]?.string
        else {
            return nil
        }
        return String(reason.prefix(100))
    }

    fileprivate var isAboutKeys: Bool {
        ["authentication_failed", "invalid_key"].contains(refusal)
    }
}
