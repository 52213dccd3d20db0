import API
import Cryptography
import EventSourcing
import Identity
import JSON
import Values

/// The demo realm of the federation profile, with a version of the app, a service and a person. It is at a name below
/// `localhost`, as a host leads to one realm and 127.0.0.1 leads to that of the verify profile. What its clients sign
/// names the host, which they have to send.
extension DemoData {
    static let federationRealm = "federation"
    static let federationHost = "federation.localhost"
    private static let version = "ch.eduid.app.1"
    private static let service = "demo-service"
    private static let serviceAddress = "https://service.example"
    private static let person = "ann@federation.example"

    func prepareFederation(_ previous: DemoFederation?) async throws -> DemoFederation {
        let realm: JSONObject = ["realm": .string(Self.federationRealm)]
        func with(_ members: JSONObject) -> JSONObject { realm.merging(members) { own, _ in own } }
        try await prepareRealm(
            Self.federationRealm, "Federation demo", at: Self.federationHost,
            [
                "profile": "federation",
                // The apps as they are published.
                "untimed_requests": "once_per_request", "unsigned_discovery": true,
            ],
            atFirst: [
                "roles": ["affiliation": ["student": [], "staff": []]],
                // A developer signs in again and again, always from the same machine.
                "rate_limits": [
                    "federation-login": ["source": .null, "target": .null],
                    "oauth-token": ["source": .null],
                ],
            ])
        let key = try await secret(
            of: Self.version,
            with([
                "client_id": .string(Self.version), "client_name": "Demo app, version 1",
                "profile": "federation_app",
                // What the newer app asks for.
                "scope": "openid profile email address phone",
            ]), previous?.key, realm)
        let serviceKey = try await secret(
            of: Self.service,
            with([
                "client_id": .string(Self.service), "client_name": "Demo service",
                "profile": "federation_service",
                "grant_types": ["urn:ietf:params:oauth:grant-type:jwt-bearer", "refresh_token"],
                "redirect_uris": [.string(Self.serviceAddress)],
                "scope": "org.ietf.oauth2 urn:ietf:params:oauth:assertion org.example.notes",
                "service_description": [
                    "engineName": "Demo service", "engineLink": "/", "homePageLink": "/",
                    "apis": ["org.example.notes": ["apiLink": "notes", "apiVersion": "1"]],
                ],
            ]), previous?.serviceKey, realm)
        let passphrase = try await preparePerson(realm, previous?.passphrase)
        return DemoFederation(
            clientID: Self.version, key: key, service: Self.serviceAddress, serviceID: Self.service,
            serviceKey: serviceKey, user: Self.person, passphrase: passphrase)
    }

    /// Of a client that is there already, what the last run wrote down; or else a new one.
    private func secret(
        of clientID: String, _ members: JSONObject, _ known: String?, _ realm: JSONObject
    ) async throws -> String {
        let made = try await ask("registerClient", members, unless: "client-exists")
        if let secret = made?["client_secret"]?.string { return secret }
        if let known { return known }
        let rotated = try await ask(
            "rotateClientSecret",
            realm.merging(["client_id": .string(clientID)]) { own, _ in own })
        guard let secret = rotated?["client_secret"]?.string else { throw Self.failure }
        return secret
    }

    private static var failure: CommandFailure {
        CommandFailure("The federation demo could not be made", remedy: "Start with --fresh.")
    }

    private func preparePerson(_ realm: JSONObject, _ known: String?) async throws -> String {
        let made = try await ask(
            "registerAccount",
            realm.merging([
                "email": .string(Self.person), "first_name": "Ann", "last_name": "Example",
                "confirmed": true,
            ]) { own, _ in own }, unless: "account-exists")
        guard let id = made?["id"]?.string, let account = UUID(id) else {
            guard let known else { throw Self.failure }
            return known
        }
        _ = try await ask(
            "setAccountRoles",
            realm.merging(["account_id": .string(id), "roles": ["affiliation": ["student"]]]) {
                own, _ in own
            })
        // No attacker guesses it, and no person types it.
        let passphrase = Base64URL.encode(Random.bytes(18))
        try await setPassphrase(passphrase, of: account)
        return passphrase
    }

    /// People set their passphrase themselves, on a page: nothing in the admin API does.
    private func setPassphrase(_ text: String, of account: UUID) async throws {
        let now = store.time.now(in: try Self.federation)
        _ = try await store.dispatcher.dispatch(
            SetPassphrase(
                account: account, hash: try Scrypt.hash(SecretBytes(Array(text.utf8))),
                session: SignedIn(client: nil, app: nil, at: now), mail: nil, now: now),
            in: try Self.federation, id: UUID.random(now), origin: Origin(actor: "system", at: now))
    }

    private static var federation: RealmID {
        get throws {
            guard let realm = RealmID(federationRealm) else { throw failure }
            return realm
        }
    }
}

extension UUID {
    fileprivate static func random(_ now: Timestamp) -> UUID {
        var random = SystemRandomNumberGenerator()
        return .v7(at: now, using: &random)
    }
}

/// What an app, a service and a person of the demo need.
struct DemoFederation: Equatable, Sendable {
    let clientID: String
    let key: String
    let service: String
    let serviceID: String
    let serviceKey: String
    let user: String
    let passphrase: String

    func lines(port: UInt16) -> [(name: String, value: String)] {
        [
            ("URD_FEDERATION_HOST", "\(DemoData.federationHost):\(port)"),
            ("URD_FEDERATION_URL", "http://\(DemoData.federationHost):\(port)/eduid"),
            ("URD_FEDERATION_CLIENT_ID", clientID),
            ("URD_FEDERATION_CLIENT_KEY", key),
            ("URD_FEDERATION_SERVICE_URL", service),
            ("URD_FEDERATION_SERVICE_ID", serviceID),
            ("URD_FEDERATION_SERVICE_KEY", serviceKey),
            ("URD_FEDERATION_USER", user),
            ("URD_FEDERATION_PASSPHRASE", passphrase),
        ]
    }

    /// What the last run wrote down; nil where a line is missing.
    init?(_ values: [Substring: String]) {
        guard let clientID = values["URD_FEDERATION_CLIENT_ID"],
            let key = values["URD_FEDERATION_CLIENT_KEY"],
            let service = values["URD_FEDERATION_SERVICE_URL"],
            let serviceID = values["URD_FEDERATION_SERVICE_ID"],
            let serviceKey = values["URD_FEDERATION_SERVICE_KEY"],
            let user = values["URD_FEDERATION_USER"],
            let passphrase = values["URD_FEDERATION_PASSPHRASE"]
        else { return nil }
        self.init(
            clientID: clientID, key: key, service: service, serviceID: serviceID,
            serviceKey: serviceKey, user: user, passphrase: passphrase)
    }

    init(
        clientID: String, key: String, service: String, serviceID: String, serviceKey: String,
        user: String, passphrase: String
    ) {
        self.clientID = clientID
        self.key = key
        self.service = service
        self.serviceID = serviceID
        self.serviceKey = serviceKey
        self.user = user
        self.passphrase = passphrase
    }
}
