public import EventSourcing
public import HTTP
internal import Identity
public import JSON
public import Values

/// What a run for an app's own tests lets them do beside what every server does.
public struct TestingContext: RouteContext {
    let now: @Sendable () -> Timestamp
    /// Lets microseconds pass at once, for everything that is decided by the time of the log.
    let pass: @Sendable (Int64) -> Void
    /// Makes a realm with a client for the web and one for phones: its answer tells of them.
    let makeRealm: @Sendable (_ name: String?, _ settings: JSONObject) async -> Response
    /// Imports accounts into a realm, that of the demo where none is named.
    let addPeople: @Sendable (_ realm: String?, _ records: [JSON]) async -> Response

    public init(
        now: @escaping @Sendable () -> Timestamp, pass: @escaping @Sendable (Int64) -> Void,
        makeRealm: @escaping @Sendable (_ name: String?, _ settings: JSONObject) async -> Response,
        addPeople: @escaping @Sendable (_ realm: String?, _ records: [JSON]) async -> Response
    ) {
        self.now = now
        self.pass = pass
        self.makeRealm = makeRealm
        self.addPeople = addPeople
    }

    public func admit(
        _ request: Request, to route: Outline, realm: RealmID?, client: ClientCredentials?
    ) {}
}

/// The routes of `urd dev --ephemeral`, at its private port: no setting and no other command has them.
public enum TestingRoutes {
    public static let table: [Route<TestingContext>] = [showClock, moveClock, makeRealm, addPeople]

    private static let clock = Answer.ok(
        "The time.", .object(.required("at", Fields.time, "Time of the clock.")),
        example: ["at": "2027-01-02T03:04:05Z"])

    private static let showClock = Route<TestingContext>(
        .get, "/test/clock", id: "showTestClock", tag: "Testing", summary: "Tells the time.",
        right: .nothing, answer: clock
    ) { call throws(Problem) in answer(call) }

    /// A century and more: nothing in a log lasts longer.
    private static let longest: Int64 = 4_000_000_000

    private static let moveClock = Route<TestingContext>(
        .post, "/test/clock", id: "moveTestClock", tag: "Testing", summary: "Moves the clock on.",
        detail: """
            What is decided by time is decided by this clock: codes and links that lapse, sessions, tokens, \
            waits after wrong guesses. Limits of rates count by another one. It never goes back, for no log does.
            """,
        right: .nothing,
        body: Body(
            schema: .object(
                .optional("seconds", .integer(0...longest), "Seconds to let pass."),
                .optional("at", Fields.time, "Time to move to, which must not be past.")),
            example: ["seconds": 600]),
        answer: clock
    ) { call throws(Problem) in
        let now = call.context.now()
        var microseconds = (call.body["seconds"]?.integer ?? 0) * 1_000_000
        if let text = call.body["at"]?.string {
            guard let at = Timestamp(rfc3339: text) else {
                throw Problem(.invalidField, "It must be a time in RFC 3339.", field: "at")
            }
            microseconds += at.microseconds(since: now)
        }
        guard (0...longest * 1_000_000).contains(microseconds) else {
            throw Problem(.invalidField, "The clock goes on, and never back.", field: "at")
        }
        call.context.pass(microseconds)
        return answer(call)
    }

    private static func answer(_ call: Call<TestingContext>) -> Response {
        .json(.ok, ["at": .string(call.context.now().description)])
    }

    private static let makeRealm = Route<TestingContext>(
        .post, "/test/realms", id: "makeTestRealm", tag: "Testing",
        summary: "Makes a clean realm with its own host, a client for the web and one for phones.",
        right: .nothing,
        body: Body(
            schema: .object(
                .optional("realm", Fields.realm, "Name of the realm; a new one by default."),
                .optional("settings", SettingSchema.realmChanges, "Settings of the realm.")),
            example: ["settings": ["login_passphrase": true]]),
        answer: Answer(
            status: .created, description: "The realm.",
            content: .json(
                .object(
                    .required("realm", Fields.realm, "Name of the realm."),
                    .required("host", .text(1...255), "Host that leads to it."),
                    .required("url", .text(1...300), "Address of its pages and issuer."),
                    .required("client_id", .text(1...255), "Client for the web."),
                    .required("client_secret", .text(1...255), "Its secret."),
                    .required("native_client_id", .text(1...255), "Client for phones.")),
                example: [
                    "realm": "t4k2p9", "host": "t4k2p9.localhost",
                    "url": "http://t4k2p9.localhost:8080", "client_id": "web",
                    "client_secret": "s3cret", "native_client_id": "native",
                ]))
    ) { call throws(Problem) in
        await call.context.makeRealm(
            call.body["realm"]?.string, call.body["settings"]?.object ?? [:])
    }

    private static let addPeople = Route<TestingContext>(
        .post, "/test/people", id: "addTestPeople", tag: "Testing",
        summary: "Adds people to a realm.", right: .nothing,
        body: Body(
            schema: .object(
                .optional("realm", Fields.realm, "Name of the realm; that of the demo by default."),
                .required(
                    "people", .list(of: .openObject, 1...AccountRecordSchema.mostAtOnce),
                    "People, in the form of an account that is imported, or with a `passphrase`.")),
            example: [
                "people": [["email": "ada@example.org", "passphrase": "correct horse battery"]]
            ],
            maximumBytes: 4 * 1024 * 1024),
        answer: .ok(
            "What became of each, in their order.",
            .object(
                .required(
                    "items", .list(of: .openObject, 0...AccountRecordSchema.mostAtOnce), "Outcomes."
                )),
            example: ["items": [["status": "imported"]]])
    ) { call throws(Problem) in
        var records: [JSON] = []
        for (index, person) in (call.body["people"]?.array ?? []).enumerated() {
            guard let record = TestPerson.record(person) else {
                throw Problem(
                    .invalidField, "It needs an email or an id, and a passphrase is text.",
                    field: "people/\(index)")
            }
            records.append(record)
        }
        return await call.context.addPeople(call.body["realm"]?.string, records)
    }
}
