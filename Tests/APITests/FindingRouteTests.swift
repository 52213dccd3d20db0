import EventSourcing
import HTTP
import Identity
import JSON
import LogTesting
import Testing
import Values

@testable import API

@Suite struct `Findings of a realm` {
    private let path = "/api/admin/realms/acme/findings"
    private let rules = "/api/admin/realms/acme/finding-rules"

    private func ids(_ answer: Answered) -> [String] {
        (answer.json["items"]?.array ?? []).compactMap { $0["id"]?.string }
    }

    @Test func `findings are listed newest first, page by page, and by what they are`() async throws
    {
        let world = try await World()
        let furnished = try #require(world.names["finding_id"])
        let account = UUID.random()
        let made = [
            try await world.furnishFinding(of: account),
            try await world.furnishFinding(.passwordSpraying, source: "q3Jx0a7bTn0y"),
            try await world.furnishFinding(.dormantAccount, of: account),
        ].map(\.description)
        let all = Set(made + [furnished]).sorted(by: >)
        let first = try await world.send(.get, path, query: "limit=3")
        #expect(ids(first) == Array(all.prefix(3)))
        let next = try #require(first.json["next"]?.string)
        let second = try await world.send(.get, path, query: "limit=3&after=\(next)")
        #expect(ids(second) == [all[3]])
        #expect(second.json["next"] == .null)

        let ofAccount = try await world.send(.get, path, query: "account=\(account)")
        #expect(Set(ids(ofAccount)) == [made[0], made[2]])
        let ofRule = try await world.send(.get, path, query: "account=\(account)&rule=brute_force")
        #expect(ids(ofRule) == [made[0]])
        let ofSource = try await world.send(.get, path, query: "source=q3Jx0a7bTn0y")
        #expect(ids(ofSource) == [made[1]])
        #expect(ids(try await world.send(.get, path, query: "state=closed")).isEmpty)
    }

    @Test func `a finding is closed once, with a reason`() async throws {
        let world = try await World()
        let id = try #require(world.names["finding_id"])
        let missing = try await world.send(.post, "\(path)/\(id)/close", body: [:])
        #expect(missing.status == .badRequest)
        #expect(missing.json["field"] == "reason")
        let body: JSON = ["reason": "Our own test"]
        let closed = try await world.send(
            .post, "\(path)/\(id)/close", body: body, idempotencyKey: "one")
        #expect(closed.status == .ok)
        #expect(closed.json["state"] == "closed")
        #expect(closed.json["reason"] == "Our own test")
        let shown = try await world.send(.get, "\(path)/\(id)")
        #expect(shown.json == closed.json)
        let repeated = try await world.send(
            .post, "\(path)/\(id)/close", body: body, idempotencyKey: "one")
        #expect(repeated.json == closed.json)
        let again = try await world.send(.post, "\(path)/\(id)/close", body: body)
        #expect(again.status == .conflict)
        #expect(ids(try await world.send(.get, path, query: "state=closed")) == [id])
    }

    @Test func `a finding of another realm is not found, nor one that there never was`()
        async throws
    {
        let world = try await World()
        try await world.make("/api/admin/realms", ["realm": "other", "display_name": "Other"])
        let id = try #require(world.names["finding_id"])
        let other = "/api/admin/realms/other/findings"
        #expect(try await world.send(.get, "\(other)/\(id)").status == .notFound)
        #expect(ids(try await world.send(.get, other)).isEmpty)
        let closed = try await world.send(.post, "\(other)/\(id)/close", body: ["reason": "a"])
        #expect(closed.status == .notFound)
        #expect(try await world.send(.get, "\(path)/\(UUID.random())").status == .notFound)
        #expect(try await world.send(.get, "\(path)/\(id)").json["state"] == "open")
    }

    @Test func `a key that may read the audit trail reads findings, and closes and sets nothing`()
        async throws
    {
        let world = try await World()
        let key = try await world.limitedKey([.auditRead])
        let id = try #require(world.names["finding_id"])
        for readable in [path, "\(path)/\(id)", rules] {
            #expect(try await world.send(.get, readable, key: key).status == .ok)
        }
        let closed = try await world.send(
            .post, "\(path)/\(id)/close", body: ["reason": "a"], key: key)
        #expect(closed.status == .forbidden)
        let set = try await world.send(.put, "\(rules)/brute_force", body: [:], key: key)
        #expect(set.status == .forbidden)
        let other = try await world.limitedKey([.historyRead])
        #expect(try await world.send(.get, path, key: other).status == .forbidden)
    }

    // MARK: - Rules

    @Test func `rules are listed with their thresholds, and hold as they were set`() async throws {
        let world = try await World()
        let listed = try await world.send(.get, rules)
        #expect(listed.json["items"]?.array?.count == FindingRule.allCases.count)
        let set = try await world.send(
            .put, "\(rules)/brute_force", body: ["failures": 20, "enabled": false])
        #expect(set.status == .ok)
        let now = try await world.send(.get, rules).json["items"]?.array?.first {
            $0["rule"] == "brute_force"
        }
        #expect(now == set.json)
        #expect(now?["enabled"] == false)
        #expect(now?["thresholds"]?["failures"] == 20)
        #expect(now?["thresholds"]?["sources"] == 5)
        #expect(now?["defaults"]?["failures"] == 10)
        // What is not named is as the rule has it by itself.
        let back = try await world.send(.put, "\(rules)/brute_force", body: [:])
        #expect(back.json["thresholds"] == back.json["defaults"])
        #expect(back.json["enabled"] == true)
    }

    @Test func `an unknown rule or threshold is refused with the name that was probably meant`()
        async throws
    {
        let world = try await World()
        let rule = try await world.send(.put, "\(rules)/brute_farce", body: [:])
        #expect(rule.status == .badRequest)
        #expect(rule.json["detail"]?.string?.contains("did you mean brute_force?") == true)
        let listed = try await world.send(.get, path, query: "rule=new_devise")
        #expect(listed.status == .badRequest)
        #expect(listed.json["detail"]?.string?.contains("did you mean new_device?") == true)
        let threshold = try await world.send(
            .put, "\(rules)/brute_force", body: ["tries": 5])
        #expect(threshold.status == .badRequest)
        #expect(threshold.json["field"] == "tries")
        #expect(threshold.json["detail"]?.string?.contains("failures") == true)
    }

    @Test(
        arguments: [
            ["failures": 1], ["failures": 501], ["window": 59], ["failures": 4, "sources": 5],
            ["failures": "ten"], ["enabled": "no"], ["anything": 1],
        ] as [JSON])
    func `thresholds that make no sense are refused`(_ body: JSON) async throws {
        let world = try await World()
        let answer = try await world.send(.put, "\(rules)/brute_force", body: body)
        #expect(answer.status == .badRequest, "\(body)")
        let listed = try await world.send(.get, rules).json["items"]?.array ?? []
        #expect(listed.allSatisfy { $0["thresholds"] == $0["defaults"] })
    }
}
