internal import EventSourcing
internal import HTTP
internal import JSON
internal import Values

/// A moment in the log of a realm: all up to a position, and nothing behind it.
struct AsOfMoment: Sendable {
    /// That the log was in when it was asked.
    let epoch: Int
    /// The position; 0 for an empty log.
    let position: Int64
    /// When the event at the position happened.
    let at: Timestamp?

    var members: JSONObject {
        var members: JSONObject = ["position": .integer(position)]
        members["at"] = at.map { .string($0.description) }
        return members
    }

    /// The clocks of nodes differ by at most so many seconds: an event may have an earlier time than the one
    /// before it, but not by more.
    fileprivate static let slack: Int64 = 60

    static let schema = Schema.text(
        1...40,
        .said(
            "a position such as 48211, a time such as 2026-11-22T12:00:00Z, or a day",
            .either([
                .some(Characters("0-9"), 1...15),
                .sequence([
                    .some(Characters("0-9"), 4...4), .text("-"),
                    .some(Characters("-+.:0-9TZtz"), 5...35),
                ]),
            ])))

    static func parameter(_ name: String, _ description: String) -> Parameter {
        Parameter(
            name, in: .path, schema,
            description + " A time means the last position that is not later.",
            example: "2026-11-22T12:00:00Z")
    }
}

extension Call<AdminContext> {
    /// The moment that a part of the path names: by a position, or by a time.
    func asOf(_ name: String) async throws(Problem) -> AsOfMoment {
        try await moment(asWritten: try required(name), name)
    }

    /// - Parameter written: nil for the last position that there is.
    func moment(asWritten written: String?, _ name: String) async throws(Problem) -> AsOfMoment {
        let realm = try realm
        let head = try await unopened(from: 1, limit: 1, in: realm).head
        if head.epoch == 0 { try await knownLog() }
        let position: Int64
        if written == nil {
            position = head.position
        } else if let written, written.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            guard let number = Int64(written), number > 0 else {
                throw Problem(.invalidParameter, "Positions begin with 1.", field: name)
            }
            guard number <= head.position else {
                throw Problem(
                    .positionLost,
                    "\(name) is beyond the head of the log, \(head.epoch):\(head.position).",
                    field: name)
            }
            position = number
        } else {
            guard let time = try time(asWritten: written, name) else {
                throw Problem(.internalError)
            }
            position = try await lastPosition(notAfter: time, head: head.position, in: realm)
        }
        guard position > 0 else { return AsOfMoment(epoch: head.epoch, position: 0, at: nil) }
        let found = try await unopened(from: position, limit: 1, in: realm).events.first
        guard let found, found.position == position else { throw Problem(.logDamaged) }
        return AsOfMoment(epoch: head.epoch, position: position, at: found.at)
    }

    /// The greatest position whose event is not later than a time; 0 where there is none.
    ///
    /// Times may run backwards by the slack. So the search by halves looks for a place behind which all is
    /// later, and what is before it is looked at one by one, from behind.
    private func lastPosition(
        notAfter time: Timestamp, head: Int64, in realm: RealmID
    ) async throws(Problem) -> Int64 {
        let bound = time.adding(seconds: AsOfMoment.slack)
        var (low, high): (Int64, Int64) = (0, head)
        while low < high {
            let middle = low + (high - low + 1) / 2
            guard let event = try await unopened(from: middle, limit: 1, in: realm).events.first,
                event.position == middle
            else { throw Problem(.logDamaged, "Position \(middle) is missing.") }
            if event.at <= bound { low = middle } else { high = middle - 1 }
        }
        let pageSize: Int64 = 1000
        while low > 0 {
            let first = max(1, low - pageSize + 1)
            let page = try await unopened(from: first, limit: Int(low - first + 1), in: realm)
            if let found = page.events.last(where: { $0.position <= low && $0.at <= time }) {
                return found.position
            }
            low = first - 1
        }
        return 0
    }

    private func unopened(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(Problem) -> LogPage {
        try await reading { () throws(LogFailure) in
            try await context.commands.events.page(from: position, limit: limit, in: realm)
        }
    }
}
