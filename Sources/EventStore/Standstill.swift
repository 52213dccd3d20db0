public import Postgres

/// What stands still although it should go on, as the database has it: a node's memory of what it does says nothing
/// where another session keeps it from doing it, or where no node tries.
public struct Standstill: Sendable, Equatable {
    /// Work that one node at a time does.
    public struct Lease: Sendable, Equatable {
        public let name: String
        /// Since a node renewed it last.
        public let seconds: Double

        public init(name: String, seconds: Double) {
            self.name = name
            self.seconds = seconds
        }
    }

    /// The realm in which an event has waited longest for a checkpoint that covers it.
    public struct Seal: Sendable, Equatable {
        public let realm: String
        public let seconds: Double
        /// How many realms have such events.
        public let realms: Int64

        public init(realm: String, seconds: Double, realms: Int64) {
            self.realm = realm
            self.seconds = seconds
            self.realms = realms
        }
    }

    public let leases: [Lease]
    /// Nil: each log is sealed up to its end.
    public let seal: Seal?

    /// A lease is renewed every three seconds, and taken over after fifteen; a log is sealed each second.
    public static let patience = 30.0

    public var unheld: [Lease] { leases.filter { $0.seconds > Self.patience } }
    public var unsealed: Seal? { seal.flatMap { $0.seconds > Self.patience ? $0 : nil } }

    public init(leases: [Lease], seal: Seal?) {
        self.leases = leases
        self.seal = seal
    }

    public static func read(_ connection: Connection) throws(Failure) -> Standstill {
        let leases = try leases(connection)
        let seal = try connection.execute(readingSeal)
        return Standstill(
            leases: leases,
            seal: seal.isEmpty
                ? nil
                : Seal(
                    realm: seal.text(0, 0), seconds: Double(seal.int64(0, 1)) / 1000,
                    realms: seal.int64(0, 2)))
    }

    /// The leases alone: a few rows, however many realms there are.
    public static func leases(_ connection: Connection) throws(Failure) -> [Lease] {
        let rows = try connection.execute(readingLeases)
        return (0..<rows.count).map {
            Lease(name: rows.text($0, 0), seconds: Double(rows.int64($0, 1)) / 1000)
        }
    }

    /// Each lease, and the milliseconds since it was renewed last.
    public static let leaseQuestion = """
        select l.name, (extract(epoch from clock_timestamp() - l.renewed_at) * 1000)::bigint
        from urd.lease l order by l.name
        """
    /// The realm whose oldest unsealed event is oldest, the milliseconds since then, and how many realms have one. What
    /// `urd.seal` says is looked at again: a node of an earlier version does not write there.
    public static let sealQuestion = """
        select u.realm, (extract(epoch from clock_timestamp() - u.at) * 1000)::bigint, count(*) over ()
        from (
            select h.realm, e.at
            from urd.realm_log h left join urd.seal s on s.realm = h.realm
            cross join lateral (
                select max(c.size) as size from urd.checkpoint c where c.realm = h.realm) c
            join lateral (
                select min(e.at) as at from (
                    select e.at from urd.event e
                    where e.realm = h.realm and e.position > coalesce(c.size, 0)
                    order by e.position limit 1) e) e on e.at is not null
            where h.position > coalesce(s.size, 0) and h.position > coalesce(c.size, 0)
            limit 1000) u
        order by u.at limit 1
        """
}

private let readingLeases = Statement("standstill_leases", Standstill.leaseQuestion)
private let readingSeal = Statement("standstill_seal", Standstill.sealQuestion)
