import EventSourcing
import Postgres
import Values

extension LatestTimes {
    /// Reads the times of the last events of realms. Where the last event is gone, the realm's time stays what it
    /// was: the sealer says that the log is damaged.
    func note(
        _ heads: [(realm: RealmID, position: Int64)], _ connection: Connection
    ) throws(Failure) {
        guard !heads.isEmpty else { return }
        var (realms, positions) = (ArrayParameter(of: .text), ArrayParameter(of: .int8))
        for head in heads {
            realms.append(head.realm.name)
            positions.append(head.position)
        }
        var parameters = Parameters()
        parameters.add([realms, positions])
        let rows = try connection.execute(readingTimes, parameters)
        for row in 0..<rows.count {
            guard let realm = RealmID(rows.text(row, 0)) else { continue }
            note(Timestamp(microseconds: rows.time(row, 1)), in: realm)
        }
    }
}

private let readingTimes = Statement(
    "head_times",
    """
    select h.realm, e.at
    from unnest($1, $2) as h (realm, position) cross join lateral (
        select e.at from urd.event e where e.realm = h.realm and e.position = h.position) e
    where h.position > 0 and e.at is not null
    """)
