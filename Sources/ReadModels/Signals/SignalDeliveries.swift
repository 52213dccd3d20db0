public import EventSourcing
internal import Postgres
public import Values

/// What streams of signals have yet to deliver. These rows are the deliveries' own: no read model is
/// made of them, and the log has none of it.
extension ReadModelQueries {
    public func signalCursor(
        of stream: UUID, in realm: RealmID
    ) async throws(LogFailure) -> SignalCursor? {
        try await rows(SignalStatements.findingCursor, Parameters(in: realm, stream)) { rows, row in
            SignalCursor(
                epoch: rows.integer(row, 0), position: rows.int64(row, 1),
                version: rows.integer(row, 2), keptTo: rows.int64(row, 3),
                verifiedAt: rows.optionalInstant(row, 4), heardAt: rows.instant(row, 5),
                failures: rows.integer(row, 6), failingSince: rows.optionalInstant(row, 7),
                nextAt: rows.optionalInstant(row, 8), pending: Int(rows.int64(row, 9)))
        }.first
    }

    /// Moves a stream on, together with what came of it. False: another node was faster.
    public func advanceSignals(
        of stream: UUID, in realm: RealmID, by step: SignalStep
    ) async throws(LogFailure) -> Bool {
        var parameters = Parameters(in: realm, stream)
        parameters.add(Int32(clamping: step.epoch))
        parameters.add(step.position)
        parameters.add(Int32(clamping: step.version))
        parameters.add(Int32(clamping: step.from?.epoch ?? -1))
        parameters.add(step.from?.position ?? -1)
        parameters.add(Int32(clamping: step.from?.version ?? -1))
        parameters.add(step.droppedTo)
        parameters.add(step.keptTo)
        parameters.add(signals: step.signals)
        parameters.add(time: step.at.microseconds)
        return try await rows(SignalStatements.advancing, parameters) { rows, row in
            rows.bool(row, 0)
        }.first
            == true
    }

    /// Those to be delivered next: what is about the stream itself before all else, its status first, and
    /// what is about an account in the order in which it happened.
    public func pendingSignals(
        of stream: UUID, in realm: RealmID, limit: Int
    ) async throws(LogFailure) -> [PendingSignal] {
        var parameters = Parameters(in: realm, stream)
        parameters.add(Int64(limit))
        return try await rows(SignalStatements.listing, parameters, PendingSignal.init)
    }

    /// The first of each account, and the first about the stream itself, as far as they are due.
    public func foremostSignals(
        of stream: UUID, in realm: RealmID, at now: Timestamp, limit: Int
    ) async throws(LogFailure) -> [PendingSignal] {
        var parameters = Parameters(in: realm, stream)
        parameters.add(Int64(limit))
        parameters.add(time: now.microseconds)
        return try await rows(SignalStatements.listingForemost, parameters, PendingSignal.init)
    }

    /// The receiver has these.
    public func confirmSignals(
        _ ids: [String], of stream: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) {
        var parameters = Parameters(in: realm, stream)
        parameters.add(texts: ids)
        parameters.add(time: now.microseconds)
        _ = try await rows(SignalStatements.confirming, parameters) { _, _ in () }
    }

    /// The receiver refuses one for good.
    public func refuseSignal(
        _ id: String, because reason: String, of stream: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) {
        var parameters = Parameters(in: realm, stream)
        parameters.add(id)
        parameters.add(reason)
        parameters.add(time: now.microseconds)
        _ = try await rows(SignalStatements.refusing, parameters) { _, _ in () }
    }

    /// Nothing is pushed to the receiver until then.
    public func deferSignals(
        of stream: UUID, in realm: RealmID, at now: Timestamp, until time: Timestamp
    ) async throws(LogFailure) {
        var parameters = Parameters(in: realm, stream)
        parameters.add(time: time.microseconds)
        parameters.add(time: now.microseconds)
        _ = try await rows(SignalStatements.deferring, parameters) { _, _ in () }
    }

    /// One is not taken while others are: it waits, and what comes after it of its account.
    public func deferSignal(
        _ id: String, of stream: UUID, in realm: RealmID, until time: Timestamp
    ) async throws(LogFailure) {
        var parameters = Parameters(in: realm, stream)
        parameters.add(id)
        parameters.add(time: time.microseconds)
        _ = try await rows(SignalStatements.deferringOne, parameters) { _, _ in () }
    }

    /// The receiver begins anew: failures of before count no more.
    public func resumeSignals(
        of stream: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) {
        var parameters = Parameters(in: realm, stream)
        parameters.add(time: now.microseconds)
        _ = try await rows(SignalStatements.resuming, parameters) { _, _ in () }
    }

    /// The receiver polled.
    public func heardOfSignals(
        of stream: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) {
        var parameters = Parameters(in: realm, stream)
        parameters.add(time: now.microseconds)
        _ = try await rows(SignalStatements.hearing, parameters) { _, _ in () }
    }

    /// Puts a verification among what is to be delivered. False: the last one was asked for too short a
    /// interval ago.
    public func verifySignals(
        of stream: UUID, in realm: RealmID, by signal: PendingSignal, atLeastAfter seconds: Int64
    ) async throws(LogFailure) -> Bool {
        var parameters = Parameters(in: realm, stream)
        parameters.add(seconds)
        parameters.add(signal.jti)
        parameters.add(signal.position)
        parameters.add(signal.type)
        parameters.add(signal.state)
        parameters.add(time: signal.issuedAt.microseconds)
        return try await rows(SignalStatements.verifying, parameters) { rows, row in
            rows.bool(row, 0)
        }.first
            == true
    }

    /// Forgets which signals receivers refused more than thirty days ago.
    public func forgetRefusedSignals() async throws(LogFailure) {
        _ = try await rows(SignalStatements.forgettingRefused, Parameters()) { _, _ in () }
    }

    /// Nothing of the stream is delivered any more.
    public func forgetSignals(of stream: UUID, in realm: RealmID) async throws(LogFailure) {
        _ = try await rows(SignalStatements.forgetting, Parameters(in: realm, stream)) { _, _ in ()
        }
    }
}

extension PendingSignal {
    fileprivate init(_ rows: Rows, _ row: Int) {
        self.init(
            jti: rows.text(row, 0), position: rows.int64(row, 1), type: rows.text(row, 2),
            account: rows.optionalIdentifier(row, 3), state: rows.optionalText(row, 4),
            issuedAt: rows.instant(row, 5), attempts: rows.integer(row, 6))
    }
}

extension Parameters {
    fileprivate mutating func add(texts: [String]) {
        var array = ArrayParameter(of: .text)
        for text in texts { array.append(text) }
        add(array)
    }

    fileprivate mutating func add(signals: [PendingSignal]) {
        var (ids, types) = (ArrayParameter(of: .text), ArrayParameter(of: .text))
        var states = ArrayParameter(of: .text)
        var positions = ArrayParameter(of: .int8)
        var accounts = ArrayParameter(of: .uuid)
        var times = ArrayParameter(of: .timestamptz)
        for signal in signals {
            ids.append(signal.jti)
            positions.append(signal.position)
            types.append(signal.type)
            if let account = signal.account {
                accounts.append(uuid: (account.high, account.low))
            } else {
                accounts.appendNull()
            }
            if let state = signal.state { states.append(state) } else { states.appendNull() }
            times.append(time: signal.issuedAt.microseconds)
        }
        for array in [ids, positions, types, accounts, states, times] { add(array) }
    }
}
