import Cryptography
import EventSourcing
import EventStore
import JSON
import Postgres
import PostgresTesting
import Values

/// Fills a log as fast as rows go in: the same bytes that appending would have left, without the
/// commands' turns. Only for an empty realm.
struct LogFiller: Sendable {
    /// An event at a version of a stream, and at a position.
    typealias Sample =
        @Sendable (_ stream: UUID, _ version: Int, _ position: Int) -> (
            name: String, open: JSONObject
        )

    let store: Store
    var sample: Sample = { stream, version, position in
        let event = SampleClient.event(stream, version: version, position)
        return (event.name, event.open)
    }
    private static let page = 10_000
    /// Streams that live at the same time, and how many events each gets.
    private static let width = 100
    private static let life = 10

    func fill(_ count: Int, _ progress: @Sendable (Int) -> Void) async throws {
        let keys = try await store.keyring.keys(of: store.realm)
        let connection = try Connection(store.database.superuser)
        try connection.run("set synchronous_commit = off; set session_replication_role = replica")
        var random = SampleRandom(state: 1)
        var position: Int64 = 0
        while position < count {
            try Task.checkCancellation()
            var page = Page(realm: store.realm, keys: keys)
            // A generation of streams lives side by side, event by event.
            for _ in 0..<Self.page / (Self.width * Self.life) {
                let streams = (0..<Self.width).map { _ in UUID.v7(at: now(), using: &random) }
                for version in 1...Self.life {
                    for stream in streams {
                        position += 1
                        let event = sample(stream, version, Int(position))
                        page.add(
                            event, position, stream, version, .v7(at: now(), using: &random))
                    }
                }
                for stream in streams { page.add(stream, version: Self.life) }
            }
            try page.write(to: connection)
            progress(Int(position))
        }
        try finish(position, connection)
    }

    private func finish(_ head: Int64, _ connection: Connection) throws {
        var parameters = Parameters()
        parameters.add(store.realm.name)
        parameters.add(head)
        try connection.executeOnce(
            "insert into urd.realm_log (realm, position) values ($1, $2)", parameters)
        try connection.run("vacuum analyze")
    }
}

/// Rows that go in together.
private struct Page {
    let realm: RealmID
    let keys: RealmKeys
    private let meta = JSON.object(["actor": "admin:benchmark"]).canonical()
    private var position = ArrayParameter(of: .int8)
    private var at = ArrayParameter(of: .timestamptz)
    private var stream = ArrayParameter(of: .uuid)
    private var command = ArrayParameter(of: .uuid)
    private var version = ArrayParameter(of: .int4)
    private var type = ArrayParameter(of: .text)
    private var leaf = ArrayParameter(of: .bytea)
    private var mac = ArrayParameter(of: .bytea)
    private var data = ArrayParameter(of: .json)
    private var heads = ArrayParameter(of: .uuid)
    private var headVersions = ArrayParameter(of: .int4)

    init(realm: RealmID, keys: RealmKeys) {
        self.realm = realm
        self.keys = keys
    }

    mutating func add(
        _ event: (name: String, open: JSONObject), _ position: Int64, _ stream: UUID,
        _ version: Int, _ command: UUID
    ) {
        let time = now()
        let body = JSON.object(event.open).canonical()
        let leaf = Record(
            at: time, command: command, data: body, meta: meta, realm: realm.name, revision: 1,
            sealed: nil, stream: stream, subject: nil, type: event.name, version: version
        ).leaf
        self.position.append(position)
        at.append(time: time.microseconds)
        self.stream.append(uuid: (stream.high, stream.low))
        self.command.append(uuid: (command.high, command.low))
        self.version.append(Int32(version))
        type.append(event.name)
        self.leaf.append(bytes: leaf)
        mac.append(bytes: Record.mac(leaf, under: keys.mac[0]))
        data.append(bytes: body)
    }

    mutating func add(_ stream: UUID, version: Int) {
        heads.append(uuid: (stream.high, stream.low))
        headVersions.append(Int32(version))
    }

    func write(to connection: Connection) throws {
        var events = Parameters()
        events.add(realm.name)
        events.add(json: meta)
        for column in [position, at, stream, command, version, type, leaf, mac, data] {
            events.add(column)
        }
        try connection.executeOnce(
            """
            with written as (
                insert into urd.event (realm, meta, revision, position, at, stream, command,
                    version, type, leaf, mac, data)
                select $1, $2, 1, * from unnest($3, $4, $5, $6, $7, $8, $9, $10, $11)
                returning position, at, command
            )
            insert into urd.command (realm, command, position, events, digest, at)
            select $1, command, position, 1, '', at from written
            """, events)
        var streams = Parameters()
        streams.add(realm.name)
        streams.add(heads)
        streams.add(headVersions)
        try connection.executeOnce(
            "insert into urd.stream (realm, stream, version) select $1, * from unnest($2, $3)",
            streams)
    }
}
