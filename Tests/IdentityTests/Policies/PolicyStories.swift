import EventSourcing
import JSON
import LogTesting
import Values

@testable import Identity

/// Events as sign-ins leave them, at random and with unkind times: several at one instant, and some before those that
/// stand before them in the log.
struct PolicyStory {
    private var random: SeededRandom
    private var now: Int64 = 1_795_000_000_000_000
    private var position: Int64 = 0
    private(set) var events: [ScannedEvent] = []
    private var accounts: [UUID] = []
    private var sessions: [UUID] = []
    private var browsers: [UUID] = []

    init(seed: UInt64, count: Int) {
        random = SeededRandom(seed: seed)
        accounts = (0..<12).map { UUID(high: 0xACC, low: UInt64($0)) }
        while events.count < count { happen() }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }

    private mutating func add(_ name: String, _ stream: UUID, _ fields: JSONObject) {
        // Others' events are between.
        position += Int64.random(in: 1...3, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: break
        case 1: now -= Int64.random(in: 1...1_800_000_000, using: &random)
        case 2: now += Int64.random(in: 1...86_400_000_000, using: &random)
        default: now += Int64.random(in: 1...900_000_000, using: &random)
        }
        events.append(
            ScannedEvent(
                position: position, stream: stream, name: name, at: Timestamp(microseconds: now),
                meta: JSON.object(["actor": "system"]).canonical(),
                data: JSON.object(fields).canonical()))
    }

    private mutating func place() -> JSONObject {
        var fields: JSONObject = [:]
        if Bool.random(using: &random) { fields["country"] = .string(pick(["CH", "DE", "FR"])) }
        if Bool.random(using: &random) { fields["asn"] = .integer(pick([7, 64_500])) }
        if Bool.random(using: &random) { fields["source"] = .string(pick(["near", "far"])) }
        if Bool.random(using: &random) {
            fields["device"] = .string(pick(["Mac", "iPhone", "a \"phone\"", "Büro"]))
        }
        return fields
    }

    private mutating func happen() {
        let account = pick(accounts)
        let id = UUID(high: 0x5E5, low: random.next())
        switch Int.random(in: 0..<24, using: &random) {
        case 0: add("account.registered", account, [:])
        case 1:
            add(
                "account.roles_changed", account,
                ["roles": ["shop": .array([.string(pick(["admin", "reader"]))])]])
        case 2: add("totp.confirmed", account, ["account": .uuid(account)])
        case 3: add("totp.removed", account, ["account": .uuid(account)])
        case 4:
            let key = UUID(high: 1, low: UInt64.random(in: 0..<3, using: &random))
            add(
                pick(["app_method.key_enrolled", "app_method.key_removed"]), account,
                ["account": .uuid(account), "key": .uuid(key)])
        case 5:
            add(pick(["account.disabled", "account.deleted"]), account, [:])
        case 6..<10: refuse(account, id)
        case 10..<14: browse(account, id)
        case 14..<18: open(account, id)
        case 18..<22:
            if !sessions.isEmpty { add("session.refreshed", pick(sessions), ["generation": 2]) }
        case 22:
            if !sessions.isEmpty { add("session.ended", pick(sessions), ["reason": "revoked"]) }
        default:
            if !browsers.isEmpty { add("browser.ended", pick(browsers), ["reason": "expired"]) }
        }
    }

    private mutating func refuse(_ account: UUID, _ id: UUID) {
        var fields = place()
        fields["account"] = .uuid(account)
        fields["reason"] = .string(pick(["invalid_code", "account_blocked"]))
        fields["method"] = .string(pick(["urn:cocoar:otp", "refresh_token"]))
        add("session.refused", id, fields)
    }

    private mutating func browse(_ account: UUID, _ id: UUID) {
        browsers.append(id)
        var fields = place()
        fields["account"] = .uuid(account)
        fields["method"] = .string(pick(["passkey", "email_code"]))
        fields["amr"] = pick([["otp"], ["hwk"], ["pwd", "otp"], ["otp", "otp"]])
        fields["expires_at"] = .integer(now / 1_000_000 + pick([60, 43_200]))
        add("browser.opened", id, fields)
    }

    private mutating func open(_ account: UUID, _ id: UUID) {
        sessions.append(id)
        var fields = place()
        fields["account"] = .uuid(account)
        fields["client_id"] = .string(pick(["shop", "office"]))
        fields["amr"] = pick([["otp"], ["hwk"], ["pwd", "otp"]])
        fields["expires_at"] = .integer(now / 1_000_000 + pick([600, 7_776_000]))
        fields["key"] = "thumbprint"
        if Bool.random(using: &random), !browsers.isEmpty {
            fields["browser"] = .uuid(pick(browsers))
            fields["method"] = "authorization_code"
        } else {
            fields["method"] = .string(
                pick(["urn:cocoar:otp", "urn:ietf:params:oauth:grant-type:token-exchange"]))
        }
        add("session.opened", id, fields)
    }

    /// A policy with some of the rules.
    static func policy(_ random: inout SeededRandom) -> JSON {
        let rules: JSONObject = [
            "require_second_factor": ["roles": ["admin"], "clients": ["shop"]],
            "allow_methods": ["passkey", "urn:cocoar:otp"], "countries": ["allow": ["CH", "DE"]],
            "networks": ["deny": ["AS7", "203.0.113.7"]],
            "hours": ["from": "20:00", "to": "17:00", "offset": "+02:00"],
            "devices": ["known_for": "1h"], "session_lifetime": "6h", "idle_lifetime": "20m",
            "max_sessions": 2, "lock_after": ["n": 2, "minutes": 60],
        ]
        var chosen: JSONObject = [:]
        for (name, rule) in rules where Bool.random(using: &random) { chosen[name] = rule }
        return .object(chosen.isEmpty ? rules : chosen)
    }
}
