internal import EventSourcing
internal import Postgres
internal import Values

// Deliveries as rows and parameters.

extension DeliveryProgress {
    init(_ rows: Rows, _ row: Int) {
        self.init(
            cursor: LogCursor(epoch: rows.integer(row, 0), position: rows.int64(row, 1)))
        done = rows.array(row, 2).compactMap { bytes in
            bytes.map { $0.reduce(0) { $0 << 8 | Int64($1) } }
        }
        blockedSince = rows.optionalInstant(row, 3)
        failures = rows.integer(row, 4)
        restsUntil = rows.optionalInstant(row, 5)
        halted = rows.optionalText(row, 6)
        lastStatus = rows.optionalInteger(row, 7)
    }

    func parameters(
        of subscription: UUID, in realm: RealmID, by lease: UUID
    ) -> Parameters {
        var parameters = Parameters(in: realm, subscription)
        parameters.add(lease)
        parameters.add(Int32(clamping: cursor.epoch))
        parameters.add(cursor.position)
        var array = ArrayParameter(of: .int8)
        for position in done { array.append(position) }
        parameters.add(array)
        parameters.add(time: blockedSince?.microseconds)
        parameters.add(Int32(clamping: failures))
        parameters.add(time: restsUntil?.microseconds)
        parameters.add(halted)
        parameters.add(lastStatus.map { Int32(clamping: $0) })
        return parameters
    }
}

extension Delivery {
    init(_ rows: Rows, _ row: Int) {
        self.init(
            position: rows.int64(row, 0), lane: rows.identifier(row, 1), type: rows.text(row, 2),
            attempts: rows.integer(row, 3), isReplay: rows.bool(row, 4),
            isGivenUp: rows.bool(row, 5), status: rows.optionalInteger(row, 6),
            nextAt: rows.instant(row, 7))
    }
}

extension [Delivery] {
    /// A column each.
    var arrays: [ArrayParameter] {
        var positions = ArrayParameter(of: .int8)
        var lanes = ArrayParameter(of: .uuid)
        var types = ArrayParameter(of: .text)
        var attempts = ArrayParameter(of: .int4)
        var replays = ArrayParameter(of: .bool)
        var givenUp = ArrayParameter(of: .bool)
        var statuses = ArrayParameter(of: .int4)
        var times = ArrayParameter(of: .timestamptz)
        for one in self {
            positions.append(one.position)
            lanes.append(uuid: (one.lane.high, one.lane.low))
            types.append(one.type)
            attempts.append(Int32(clamping: one.attempts))
            replays.append(one.isReplay)
            givenUp.append(one.isGivenUp)
            if let status = one.status {
                statuses.append(Int32(clamping: status))
            } else {
                statuses.appendNull()
            }
            times.append(time: one.nextAt.microseconds)
        }
        return [positions, lanes, types, attempts, replays, givenUp, statuses, times]
    }
}

extension [DeliveryAttempt] {
    /// A column each.
    var arrays: [ArrayParameter] {
        var positions = ArrayParameter(of: .int8)
        var types = ArrayParameter(of: .text)
        var times = ArrayParameter(of: .timestamptz)
        var durations = ArrayParameter(of: .int4)
        var statuses = ArrayParameter(of: .int4)
        var outcomes = ArrayParameter(of: .text)
        var replays = ArrayParameter(of: .bool)
        var answers = ArrayParameter(of: .text)
        for one in self {
            positions.append(one.position)
            types.append(one.type)
            times.append(time: one.at.microseconds)
            durations.append(Int32(clamping: one.milliseconds))
            statuses.append(Int32(clamping: one.status))
            outcomes.append(one.outcome)
            replays.append(one.isReplay)
            answers.append(one.answer)
        }
        return [positions, types, times, durations, statuses, outcomes, replays, answers]
    }
}
