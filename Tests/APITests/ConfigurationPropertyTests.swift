import HTTP
import JSON
import Testing
import Values

@testable import API

/// Configurations by chance: things that come, go and change, with members of every form.
private struct RandomConfiguration {
    var random: SeededRandom

    mutating func next() -> JSON {
        var members: JSONObject = [:]
        members["settings"] = .object(settings(SettingSchema.realmChanges, 4))
        members["hosts"] = .array(names("host", 3).map { .string("\($0).acme.example") })
        let apps = names("app", 3)
        members["apps"] = .object(
            JSONObject(
                apps.map { name in
                    (
                        name,
                        [
                            "name": .string(text()),
                            "settings": .object(settings(SettingSchema.appChanges, 3)),
                        ]
                    )
                }))
        members["clients"] = .object(
            JSONObject(names("client", 5).map { ($0, .object(client(apps))) }))
        members["finding_rules"] = ["brute_force": ["failures": .integer(number(5...40))]]
        members["webhooks"] = .object(
            JSONObject(
                names("hook", 2).map {
                    ($0, ["url": "https://hooks.example/\(number(1...9))", "types": ["account.*"]])
                }))
        return .object(members)
    }

    private mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
        Int64.random(in: range, using: &random)
    }

    private mutating func flip() -> Bool { Bool.random(using: &random) }

    private mutating func text() -> String {
        ["Shop", "Ünïcode", "a: b", "Web # shop", "\"x\"", "off"].randomElement(using: &random)
            ?? "x"
    }

    private mutating func names(_ stem: String, _ most: Int) -> [String] {
        (1...most).map { "\(stem)-\($0)" }.filter { _ in flip() }
    }

    /// Settings of simple types, within their limits.
    private mutating func settings(_ schema: Schema, _ most: Int) -> JSONObject {
        guard case .object(let rule) = schema.resolved else { return [:] }
        let taken = [
            "otp_lifetime", "access_token_lifetime", "refresh_token_lifetime",
            "registration", "invite_lifetime",
        ]
        var chosen: JSONObject = [:]
        for member in rule.members where taken.contains(member.name) && flip() {
            guard case .nullable(let inner) = member.schema.resolved else { continue }
            switch inner.resolved {
            case .integer(let range):
                chosen[member.name] = .integer(
                    number(range.lowerBound...min(range.upperBound, range.lowerBound + 1_000)))
            case .text(let rule):
                chosen[member.name] = rule.values.randomElement(using: &random).map { .string($0) }
            default: break
            }
        }
        return chosen
    }

    private mutating func client(_ apps: [String]) -> JSONObject {
        var client: JSONObject = [:]
        if flip() { client["client_name"] = .string(text()) }
        if flip() { client["redirect_uris"] = ["https://b.example/in", "https://a.example/in"] }
        if flip() {
            client["app"] = apps.randomElement(using: &random).map { .string($0) } ?? .null
        }
        if flip() { client["scope"] = "openid  email profile" }
        if flip() { client["consent"] = flip() ? "none" : "needed" }
        if flip() { client["access_token_lifetime"] = .integer(number(300...900)) }
        if flip() { client["dpop_bound_access_tokens"] = .bool(flip()) }
        if flip() { client["token_endpoint_auth_method"] = "client_secret_post" }
        if flip() { client["logo_uri"] = flip() ? .null : "https://a.example/logo.png" }
        if flip() { client["grant_types"] = ["refresh_token", "authorization_code"] }
        return client
    }
}

/// The same numbers for the same seed.
private struct SeededRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

@Suite struct `Configurations by chance` {
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `a plan is empty once it was applied, with pruning and without`(seed: UInt64) async throws
    {
        let world = try await World()
        var configurations = RandomConfiguration(random: SeededRandom(state: seed))
        for round in 1...6 {
            let configuration = configurations.next()
            let prune = round.isMultiple(of: 2)
            let plan = try await world.configure("plan", configuration, prune: prune)
            let errors = plan.json["errors"]?.array ?? []
            // Not every combination of members is a client: then it has to be said, and nothing happens.
            let applied = try await world.configure(
                "apply", configuration, prune: prune, plan: plan.json["plan"])
            if !errors.isEmpty {
                #expect(applied.status == .badRequest)
                continue
            }
            #expect(applied.status == .ok, "seed \(seed), round \(round): \(applied.json)")
            let again = try await world.configure("plan", configuration, prune: prune)
            #expect(
                again.json["changes"] == [], "seed \(seed), round \(round): \(again.json)")
        }
    }
}
