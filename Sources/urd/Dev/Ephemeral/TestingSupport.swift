import API
import EventStore
import HTTP
import JSON
import Values

/// What `urd dev --ephemeral` does for an app's own tests.
struct TestingSupport: Sendable {
    private let store: Store
    private let demo: DemoData
    private let port: UInt16

    init(_ store: Store, port: UInt16) throws {
        self.store = store
        self.port = port
        demo = try DemoData(store)
    }

    var context: TestingContext {
        TestingContext(
            now: store.clock.now, pass: { store.clock.pass($0) },
            makeRealm: { await makeRealm($0, $1) }, addPeople: { await add($1, to: $0) })
    }

    /// People of a file, which come before the first request.
    func add(_ people: [JSON]) async throws {
        for start in stride(from: 0, to: people.count, by: 500) {
            let records = people[start..<min(start + 500, people.count)].compactMap(
                TestPerson.record)
            let answer = try AdminRequests.answer(await add(records, to: nil))
            for item in answer["items"]?.array ?? [] where item["status"] == "refused" {
                throw CommandFailure(
                    "A person was refused: \(item["detail"]?.string ?? "")",
                    remedy: "docs/testing.md says what a person has.")
            }
        }
    }

    private func add(_ records: [JSON], to realm: String?) async -> Response {
        await demo.response(
            of: "importAccounts",
            [
                "realm": .string(realm ?? DemoData.realm), "source": "urd",
                "accounts": .array(records),
            ])
    }

    private func makeRealm(_ name: String?, _ settings: JSONObject) async -> Response {
        let name = name ?? "t" + String(UInt64.random(in: 0..<1 << 50), radix: 36)
        let realm = JSON.string(name)
        let host = "\(name).localhost"
        var settings = settings.merging(Self.settings(host)) { given, _ in given }
        settings["realm"] = realm
        let web: JSONObject = [
            "realm": realm, "client_id": "web", "client_name": "Web",
            "redirect_uris": ["http://127.0.0.1/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "client_secret_basic",
        ]
        var native = DemoData.forPhones
        native["realm"] = realm
        native["client_id"] = "native"
        var secret: JSON?
        for (operation, values) in [
            ("createRealm", ["realm": realm, "display_name": realm]),
            ("assignHost", ["realm": realm, "host": .string(host)]),
            ("setRealmSettings", settings), ("registerClient", web), ("registerClient", native),
        ] as [(String, JSONObject)] {
            let answer = await demo.response(of: operation, values)
            guard answer.status.code < 300 else { return answer }
            secret = secret ?? (try? JSON.parse(answer.body))?["client_secret"]
        }
        let body: JSON = [
            "realm": realm, "host": .string(host), "url": .string("http://\(host):\(port)"),
            "client_id": "web", "client_secret": secret ?? .null, "native_client_id": "native",
        ]
        return Response(
            status: .created, headers: ["Content-Type": "application/json"],
            body: Array(body.canonical()))
    }

    /// Settings of a realm in which a hundred people sign up from one address and wait for nothing.
    private static func settings(_ host: String) -> JSONObject {
        [
            "primary_domain": .string(host), "native_grants": true, "registration": "jit_on_otp",
            "uniform_delay": 0, "signal_verification_interval": 0,
            "rate_limits": ["native-otp": ["sign-ups": .null]],
        ]
    }
}
