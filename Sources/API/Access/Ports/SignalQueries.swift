public import EventSourcing
public import ReadModels
public import Values

/// What is yet to be delivered of security signals.
public protocol SignalQueries: Sendable {
    /// Nil for a stream whose log was never read.
    func signalCursor(
        of stream: UUID, in realm: RealmID
    ) async throws(LogFailure) -> SignalCursor?

    /// Moves a stream on, together with what came of it. False: another node was faster.
    func advanceSignals(
        of stream: UUID, in realm: RealmID, by step: SignalStep
    ) async throws(LogFailure) -> Bool

    /// The next signals to be delivered.
    func pendingSignals(
        of stream: UUID, in realm: RealmID, limit: Int
    ) async throws(LogFailure) -> [PendingSignal]

    /// The first of each account, and the first about the stream itself, as far as they are due.
    func foremostSignals(
        of stream: UUID, in realm: RealmID, at now: Timestamp, limit: Int
    ) async throws(LogFailure) -> [PendingSignal]

    /// The receiver has these.
    func confirmSignals(
        _ ids: [String], of stream: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure)

    /// The receiver refuses one for good.
    func refuseSignal(
        _ id: String, because reason: String, of stream: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure)

    /// Nothing is pushed to the receiver until then.
    func deferSignals(
        of stream: UUID, in realm: RealmID, at now: Timestamp, until time: Timestamp
    ) async throws(LogFailure)

    /// One is not taken while others are: it waits, and what comes after it of its account.
    func deferSignal(
        _ id: String, of stream: UUID, in realm: RealmID, until time: Timestamp
    ) async throws(LogFailure)

    /// The receiver begins anew: failures of before count no more.
    func resumeSignals(
        of stream: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure)

    /// The receiver polled.
    func heardOfSignals(
        of stream: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure)

    /// False: the last verification was asked for too short a time ago.
    func verifySignals(
        of stream: UUID, in realm: RealmID, by signal: PendingSignal, atLeastAfter seconds: Int64
    ) async throws(LogFailure) -> Bool

    /// Nothing of the stream is delivered any more.
    func forgetSignals(of stream: UUID, in realm: RealmID) async throws(LogFailure)

    /// Waits until the log has gone on, for a bounded time.
    /// - Returns: how far it is, as far as this node knows.
    func waitForCommit(
        past position: Int64, in realm: RealmID, atMost time: Duration
    ) async -> Int64
}
