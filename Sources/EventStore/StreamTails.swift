import EventSourcing
import Postgres
import Values

/// Reads the ends of many streams at once.
typealias StreamTails = QueryCoalescing<RealmID, StreamTail, EventPage, Connection, LogFailure>

/// What comes after a version of a stream.
struct StreamTail: Hashable, Sendable {
    let stream: UUID
    let after: Int32

    @Sendable static func read(
        _ connection: Connection, _ realm: RealmID, _ tails: [StreamTail]
    ) -> Result<StreamTails.Found, LogFailure> {
        var (streams, versions) = (ArrayParameter(of: .uuid), ArrayParameter(of: .int4))
        for tail in tails {
            streams.append(tail.stream)
            versions.append(tail.after)
        }
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add([streams, versions])
        guard let rows = try? connection.execute(readingTails, parameters) else {
            return .failure(.unavailable)
        }
        var found: StreamTails.Found = [:]
        var first = 0
        while first < rows.count {
            let number = rows.int32(first, 15)
            let next = (first..<rows.count).first { rows.int32($0, 15) != number } ?? rows.count
            found[tails[Int(number) - 1]] = .success(
                EventPage(
                    rows, rows.isNull(first, 0) ? first..<first : first..<next, realm,
                    last: rows.isNull(first, 16) ? nil : Int(rows.int32(first, 16))))
            first = next
        }
        return .success(found)
    }
}

/// One look-up for each: a join would be free to read the whole realm. Where none of the events is there that the stream
/// had, its last version comes alone: that is a hole, and no end.
private let readingTails = Statement(
    "event_streams",
    """
    select e.*, t.number::integer, t.last
    from (
        select t.*, (select s.version from urd.stream s where s.realm = $1 and s.stream = t.stream) as last
        from unnest($2, $3) with ordinality as t (stream, after, number) offset 0
    ) t
    left join lateral (
        select \(eventColumns) from urd.event e
        where e.realm = $1 and e.stream = t.stream and e.version > t.after order by e.version
    ) e on true
    where e.position is not null or t.last > t.after
    order by t.number
    """)
