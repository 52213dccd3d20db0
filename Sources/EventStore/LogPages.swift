public import EventSourcing
import JSON
import Postgres
import Values

/// What is read of the log without a key: places, epochs, and events with what is sealed left sealed.
extension PostgresLog {
    /// The realm's head and epochs, of one moment.
    public func epochs(of realm: RealmID) async throws(LogFailure) -> EpochHistory {
        let epochs = try await database.tryRun { connection throws(Failure) in
            var parameters = Parameters()
            parameters.add(realm.name)
            let rows = try connection.execute(readingEpochs, parameters)
            return rows.isEmpty ? .none : EpochHistory(rows, 0, at: 0)
        }
        if epochs.head.epoch > 0 { hub.enter(epochs.head.epoch, of: realm) }
        return epochs
    }

    public func page(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> LogPage {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(position)
        parameters.add(Int64(limit))
        return try await page(readingPage, parameters, realm)
    }

    /// The events of certain types among so many places of the log; that nothing is missing between them is counted.
    /// - Returns: the events, and up to where nothing is missing; nil where something is.
    public func page(
        from position: Int64, span: Int64, types: [String], in realm: RealmID
    ) async throws(LogFailure) -> (page: LogPage, last: Int64)? {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(position)
        parameters.add(span)
        var array = ArrayParameter(of: .text)
        for name in types { array.append(name) }
        parameters.add(array)
        let (page, count) = try await countedPage(readingTypes, parameters, realm)
        let last = min(position + span - 1, page.head.position)
        return count == max(0, last - position + 1) ? (page, last) : nil
    }

    public func page(
        at positions: [Int64], in realm: RealmID
    ) async throws(LogFailure) -> LogPage {
        var parameters = Parameters()
        parameters.add(realm.name)
        var array = ArrayParameter(of: .int8)
        for position in positions { array.append(position) }
        parameters.add(array)
        return try await page(readingPlaces, parameters, realm)
    }

    /// The events of a stretch of the log that are of certain types, whichever actor they name, or of others that an
    /// administrator or an operator did.
    /// - Returns: the events, and up to where it was looked.
    public func selection(
        after position: Int64, span: Int64, types: [String], ofAdministrators others: [String],
        in realm: RealmID
    ) async throws(LogFailure) -> (page: LogPage, last: Int64) {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(position)
        let end = position + span
        parameters.add(end)
        for names in [types, others] {
            var array = ArrayParameter(of: .text)
            for name in names { array.append(name) }
            parameters.add(array)
        }
        let page = try await page(readingSelection, parameters, realm)
        return (page, max(position, min(end, page.head.position)))
    }

    /// The events of some types behind a position and up to another, as they stand: for one who wants a few fields of
    /// very many. That none of any type is missing is counted.
    public func scan(
        after position: Int64, through end: Int64, types: [String], in realm: RealmID
    ) async throws(LogFailure) -> [ScannedEvent] {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(position)
        parameters.add(end)
        var array = ArrayParameter(of: .text)
        for name in types { array.append(name) }
        parameters.add(array)
        let asked = parameters
        let (count, events) = try await database.tryRun { connection throws(Failure) in
            var range = Parameters()
            range.add(realm.name)
            range.add(position)
            range.add(end)
            let count = try connection.execute(counting, range).int64(0, 0)
            let rows = try connection.execute(scanning, asked)
            return (
                count,
                (0..<rows.count).map { row in
                    ScannedEvent(
                        position: rows.int64(row, 0), stream: rows.identifier(row, 1),
                        name: rows.text(row, 2), at: Timestamp(microseconds: rows.time(row, 3)),
                        meta: rows.bytes(row, 4), data: rows.bytes(row, 5))
                }
            )
        }
        guard count == end - position else { throw .damaged }
        return events
    }

    private func page(
        _ statement: Statement, _ parameters: Parameters, _ realm: RealmID
    ) async throws(LogFailure) -> LogPage {
        try await countedPage(statement, parameters, realm).page
    }

    /// - Returns: the events, and how many there are in the stretch that was read, where the statement counts them.
    private func countedPage(
        _ statement: Statement, _ parameters: Parameters, _ realm: RealmID
    ) async throws(LogFailure) -> (page: LogPage, count: Int64) {
        let (epochs, rows, count) = try await database.tryRun { connection throws(Failure) in
            let rows = try connection.execute(statement, parameters)
            guard !rows.isEmpty else { return (EpochHistory.none, [UnopenedRow](), Int64(0)) }
            return (
                EpochHistory(rows, 0, at: 0),
                (0..<rows.count).filter { !rows.isNull($0, 3) }.map { UnopenedRow(rows, $0) },
                rows.int64(0, 16)
            )
        }
        if epochs.head.epoch > 0 { hub.enter(epochs.head.epoch, of: realm) }
        var events: [Recorded] = []
        events.reserveCapacity(rows.count)
        for row in rows { events.append(try row.row.recorded(realm, personal: row.personal)) }
        return (LogPage(epochs: epochs, events: events), count)
    }
}

extension EpochHistory {
    /// From three columns: epoch, position, and the starts of all epochs but the first.
    fileprivate init(_ rows: Rows, _ row: Int, at column: Int) {
        let starts = rows.isNull(row, column + 2) ? "" : rows.text(row, column + 2)
        self.init(
            head: Head(
                epoch: Int(rows.int32(row, column)), position: rows.int64(row, column + 1)),
            starts: starts.split(separator: " ").compactMap(Start.init))
    }
}

extension EpochHistory.Start {
    fileprivate init?(_ text: Substring) {
        let isLoss = text.last == "!"
        guard let place = LogCursor(String(isLoss ? text.dropLast() : text)) else { return nil }
        self.init(epoch: place.epoch, after: place.position, isLoss: isLoss)
    }
}

private struct UnopenedRow: Sendable {
    let row: EventPage.Row
    let personal: Recorded.Personal

    init(_ rows: Rows, _ row: Int) {
        self.row = EventPage.Row(
            position: rows.int64(row, 3), stream: rows.identifier(row, 4),
            version: Int(rows.int32(row, 5)), type: rows.text(row, 6),
            revision: Int(rows.int16(row, 7)), at: Timestamp(microseconds: rows.time(row, 8)),
            command: rows.identifier(row, 9),
            subject: rows.isNull(row, 10) ? nil : rows.identifier(row, 10),
            meta: rows.bytes(row, 11), data: rows.bytes(row, 12), leaf: rows.leaf(row, 13),
            sealed: nil, key: .none)
        personal =
            if rows.isNull(row, 15) {
                rows.bool(row, 14) ? .unreadable : .none
            } else {
                rows.bool(row, 15) ? .erased : .sealed
            }
    }
}

/// Places of epochs as text, as `LogCursor` reads them; there are few.
private let epochStarts = """
    (select string_agg(s.epoch || ':' || s.began_after || case when s.lost then '!' else '' end, ' ')
        from urd.epoch s where s.realm = h.realm)
    """
private let readingEpochs = Statement(
    "epochs",
    "select h.epoch, h.position, \(epochStarts) from urd.realm_log h where h.realm = $1")
private let readingPage = Statement(
    "log_page", selectingPage("p.position >= $2 order by p.position limit $3"))
private let readingTypes = Statement(
    "log_types",
    selectingPage(
        "p.position >= $2 and p.position < $2 + $3 and p.type = any ($4)",
        count: """
            (select count(*) from urd.event c
                where c.realm = $1 and c.position >= $2 and c.position < $2 + $3)
            """))
private let readingPlaces = Statement(
    "log_places", selectingPage("p.position = any ($2)"))
private let counting = Statement(
    "log_count",
    "select count(*) from urd.event e where e.realm = $1 and e.position > $2 and e.position <= $3")
private let scanning = Statement(
    "log_scan",
    """
    select e.position, e.stream, e.type, e.at, e.meta, e.data from urd.event e
    where e.realm = $1 and e.position > $2 and e.position <= $3 and e.type = any ($4)
    order by e.position
    """)
private let readingSelection = Statement(
    "log_selection",
    selectingPage(
        """
        p.position > $2 and p.position <= $3 and (p.type = any ($4) or p.type = any ($5)
            and (p.meta ->> 'actor' like 'admin:%' or p.meta ->> 'actor' like 'operator:%'))
        """))

/// The head of the moment comes with the events, also where there are none; the epochs with the first
/// of them alone.
private func selectingPage(_ condition: String, count: String = "0::bigint") -> String {
    """
    select h.epoch, h.position,
        case when e.number is null or e.number = 1 then \(epochStarts) end,
        e.position, e.stream, e.version, e.type, e.revision, e.at, e.command, e.subject, e.meta,
        e.data, e.leaf, e.is_sealed,
        case when e.is_sealed then
            (select k.wrapped is null from urd.subject_key k
                where k.realm = h.realm and k.subject = e.subject)
        end,
        \(count)
    from urd.realm_log h left join lateral (
        select p.position, p.stream, p.version, p.type, p.revision, p.at, p.command, p.subject,
            p.meta, p.data, p.leaf, p.sealed is not null as is_sealed,
            row_number() over (order by p.position) as number
        from urd.event p
        where p.realm = $1 and \(condition)
    ) e on true
    where h.realm = $1
    order by e.number
    """
}
