public import EventSourcing
internal import Postgres

/// How far the streams of signals of all realms are behind.
public struct SignalLag: Sendable, Equatable {
    /// The lag of the slowest stream, in events.
    public var events: Int64
    /// How old the oldest event is that a receiver has yet to confirm.
    public var seconds: Double
    /// How many streams the transmitter paused.
    public var paused: Int64

    /// Of a node that does not push.
    public static let none = SignalLag(events: 0, seconds: 0, paused: 0)
}

extension ReadModelQueries {
    public func signalLag() async throws(LogFailure) -> SignalLag? {
        try await rows(measuring, Parameters()) { rows, row in
            SignalLag(
                events: rows.int64(row, 0), seconds: Double(rows.int64(row, 1)) / 1_000,
                paused: rows.int64(row, 2))
        }.first
    }
}

private let measuring = Statement(
    "ssf_lag",
    """
    select coalesce(max(h.position - least(c.position, w.first - 1))
            filter (where s.status = 'enabled'), 0),
        coalesce(max((extract(epoch from now() - e.at) * 1000)::bigint)
            filter (where s.status = 'enabled'), 0),
        count(*) filter (where s.status = 'paused' and p.by = 'transmitter')
    from urd.ssf_streams s
    join urd.realm_log h on h.realm = s.realm
    join urd.ssf_cursor c on c.realm = s.realm and c.stream = s.stream
    left join lateral (
        select coalesce(min(g.position), c.position + 1) as first from urd.ssf_signal g
        where g.realm = s.realm and g.stream = s.stream and g.refused is null
            and g.account is not null) w on true
    left join lateral (
        select v.at from urd.event v where v.realm = s.realm and v.position = w.first) e on true
    left join lateral (
        select v.data ->> 'by' as by from urd.event v
        where v.realm = s.realm and v.stream = s.stream and v.type = 'ssf_stream.status_changed'
        order by v.version desc limit 1) p on true
    where \(clientIsThere)
    """)
