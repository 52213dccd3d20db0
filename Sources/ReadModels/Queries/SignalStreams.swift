public import EventSourcing
internal import EventStore
internal import Postgres
public import Values

/// A stream of security signals to a client, as far as it takes to find it.
public struct SignalStreamView: Sendable, Equatable {
    public var id: UUID
    public var client: UUID
    public var slot: Int
    /// The method's URN.
    public var method: String
    public var status: String

    public init(id: UUID, client: UUID, slot: Int, method: String, status: String) {
        self.id = id
        self.client = client
        self.slot = slot
        self.method = method
        self.status = status
    }

    fileprivate init(_ rows: Rows, _ row: Int) {
        self.init(
            id: rows.identifier(row, 1), client: rows.identifier(row, 2),
            slot: rows.integer(row, 3), method: rows.text(row, 4), status: rows.text(row, 5))
    }
}

/// A stream that signals are pushed to, or that has to be looked after.
public struct SignalStreamEntry: Sendable, Hashable {
    public var realm: RealmID
    public var stream: UUID
    public var isPushed: Bool
}

extension SignalStreamView {
    public static let ofClient: Question<UUID, [SignalStreamView]> = Columns(
        of: "ssf_streams", key: "stream", "m.client, m.slot, m.method, m.status", Self.init(_:_:)
    ).all("ssf_streams_of_client", where: "m.client = $2").all(Parameters.init)
}

extension ReadModelQueries {
    /// Those of all realms that are enabled. What it finds is looked at once more in the log.
    public func enabledSignalStreams() async throws(LogFailure) -> [SignalStreamEntry] {
        try await rows(enabled, Parameters()) { rows, row in
            RealmID(rows.text(row, 0)).map {
                SignalStreamEntry(
                    realm: $0, stream: rows.identifier(row, 1), isPushed: rows.bool(row, 2))
            }
        }
    }

    /// Those whose deliveries are kept though there is no such stream any more.
    public func forgottenSignalStreams() async throws(LogFailure) -> [SignalStreamEntry] {
        try await rows(forgotten, Parameters()) { rows, row in
            RealmID(rows.text(row, 0)).map {
                SignalStreamEntry(realm: $0, stream: rows.identifier(row, 1), isPushed: false)
            }
        }
    }

    /// Waits until the log has gone on, for a bounded time.
    /// - Returns: how far it is, as far as this node knows.
    public func waitForCommit(
        past position: Int64, in realm: RealmID, atMost time: Duration
    ) async -> Int64 {
        if hub.head(of: realm) <= position {
            await hub.wait(past: position, in: realm, atMost: time)
        }
        return hub.head(of: realm)
    }
}

/// Streams end with their client, who alone could delete them.
let clientIsThere = """
    not exists (select from urd.event x where x.realm = s.realm and x.stream = s.client
        and x.type = 'client.deleted')
    """

private let enabled = Statement(
    "ssf_streams_enabled",
    """
    select s.realm, s.stream, s.method = 'urn:ietf:rfc:8935' from urd.ssf_streams s
    where s.status = 'enabled' and \(clientIsThere) order by s.realm, s.stream
    """)

private let forgotten = Statement(
    "ssf_streams_forgotten",
    """
    select c.realm, c.stream, false from urd.ssf_cursor c
    where exists (select from urd.event e where e.realm = c.realm and e.stream = c.stream
        and e.type = 'ssf_stream.deleted')
        or exists (select from urd.ssf_streams s where s.realm = c.realm and s.stream = c.stream
            and not \(clientIsThere))
    """)
