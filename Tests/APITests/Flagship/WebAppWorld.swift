import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

extension FlagshipWorld {
    static let drive: JSONObject = [
        "kind": "app", "slug": "drive", "name": "Drive", "name_prefix": "Acme",
        "editor": "Acme & Sons", "icon": "icon.svg", "permissions": ["files", "contacts:read"],
        "flags": ["drive.beta": true],
    ]
    static let bank: JSONObject = [
        "kind": "konnector", "slug": "bank", "name": "Bank", "permissions": ["bills"],
        "start_url": "https://bank.example/start?client=acme",
        "reconnect_url": "https://bank.example/again",
        "manage_url": "https://bank.example/manage",
    ]

    @discardableResult
    func add(_ members: JSONObject) async throws -> UUID {
        let id = UUID.random()
        try await world.carryOut(WebAppChange.register(id, members: members))
        let card = try WebAppCard(members)
        world.directory.change(world.realm) {
            $0.webApps[world.realm, default: []].append(
                WebAppView(id: id, card: card, createdAt: Timestamp(seconds: 1_795_000_000)))
        }
        return id
    }

    func remove(_ id: UUID) async throws {
        try await world.carryOut(WebAppChange.remove(id))
        world.directory.change(world.realm) { $0.webApps[world.realm]?.removeAll { $0.id == id } }
    }

    func set(_ settings: JSONObject) async throws {
        try await world.carryOut(RealmChange.setSettings(settings))
        world.directory.change(world.realm) { state in
            guard let known = state.realms[world.realm] else { return }
            state.realms[world.realm] = RealmView(
                realm: known.realm, isDisabled: known.isDisabled,
                settings: known.settings.merging(settings) { $1 }, createdAt: known.createdAt)
        }
    }

    /// A certified app in whose hands the realm is: with its tokens.
    func owned() async throws -> (app: TestInstallation, access: String) {
        let app = try await certified()
        let access = try await onboard(app).json["access_token"]?.string
        return (app, try #require(access))
    }

    func sessionCodeText(_ access: String) async throws -> String {
        try #require(try await sessionCode(access).json["session_code"]?.string)
    }

    func browser(at host: String = "id.acme.example") -> PageBrowser {
        let browser = PageBrowser(world)
        browser.headers = ["Host": host]
        return browser
    }

    func open(
        _ slug: String, _ bearer: String?, headers: Headers = [:]
    ) async throws -> Answered {
        try await send(.get, "/apps/\(slug)/open", bearer: bearer, headers: headers)
    }

    func konnectorToken(_ slug: String, _ bearer: String?) async throws -> Answered {
        try await send(.post, "/auth/tokens/konnectors/\(slug)", bearer: bearer)
    }
}
