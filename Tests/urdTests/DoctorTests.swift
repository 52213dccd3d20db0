import API
import EventSourcing
import JSON
import Testing

@testable import urd

@Suite("The doctor")
struct DoctorTests {
    /// A database that is as it should be, but for what a test changes.
    private func checks(
        _ changes: [String: String?] = [:], rewrites: [String] = ["false", "false", "false"],
        schema: String? = "6", halted: [[String?]] = [], failed: [[String?]] = [],
        latest: String = "1799999999000000"
    ) -> DatabaseChecks {
        let order = [
            "version", "recovery", "role", "super", "fsync", "pages", "commit", "zone", "room",
            "now", "log", "migrations",
        ]
        var facts: [String: String?] = [
            "version": "150018", "recovery": "false", "role": "urd_app", "super": "false",
            "fsync": "on", "pages": "on", "commit": "on", "zone": "UTC", "room": "100",
            "now": "1800000000000000", "log": "urd.event", "migrations": "urd.migration",
        ]
        for (name, value) in changes { facts[name] = .some(value) }
        let row = order.map { facts[$0] ?? nil }
        return DatabaseChecks(
            tools: DoctorTools(
                query: { _, sql in
                    if sql.contains("has_table_privilege") { return [rewrites] }
                    if sql.contains("max(version)") { return [[schema]] }
                    if sql.contains("halted_at") { return halted }
                    if sql.contains("order by e.at") { return [[latest, "acme"]] }
                    if sql.contains("urd.mails") { return failed }
                    return [row]
                }, newestSchema: 6, now: { 1_800_000_000_000_000 }),
            address: "postgresql://x")
    }

    private func verdicts(_ checks: DatabaseChecks) async -> [String: Diagnosis.Verdict] {
        let all = await checks.all(connections: 4)
        return Dictionary(uniqueKeysWithValues: all.map { ($0.check, $0.verdict) })
    }

    @Test func `a sound database has no finding of the doctor`() async {
        #expect(await verdicts(checks()).values.allSatisfy { $0 == .fine })
    }

    @Test(arguments: [
        ("version", "140005", "database"), ("recovery", "true", "database"),
        ("super", "true", "role"), ("fsync", "off", "durability"), ("pages", "off", "durability"),
        ("commit", "off", "durability"), ("migrations", "", "schema"),
        ("room", "10", "connections"),
    ])
    func `the doctor finds each fault and no other`(fact: String, value: String, check: String)
        async
    {
        let found = await verdicts(checks([fact: value]))
        #expect(found.filter { $0.value != .fine } == [check: .wrong])
    }

    @Test(arguments: [
        ("zone", "Europe/Paris", "time zone"), ("now", "1800000009000000", "clocks"),
        ("now", "-9223372036854775808", "clocks"), ("log", "", "history"),
    ])
    func `the doctor warns of settings that should be otherwise`(
        fact: String, value: String, check: String
    ) async {
        let found = await verdicts(checks([fact: value]))
        #expect(found.filter { $0.value != .fine } == [check: .warning])
    }

    @Test func `a role that may rewrite history is a finding of the doctor`() async {
        for place in 0..<3 {
            var rights = ["false", "false", "false"]
            rights[place] = "true"
            #expect(await verdicts(checks(rewrites: rights))["history"] == .wrong)
        }
    }

    @Test func `a halted read model is named by the doctor`() async throws {
        let found = await checks(halted: [["clients", "demo", "9", "23514 name_is_short"]])
            .all(connections: 4)
        let wrong = try #require(found.first { $0.verdict != .fine })
        #expect(wrong.check == "read models")
        #expect(wrong.what == "clients halted in demo at position 9: 23514 name_is_short")
    }

    @Test func `mails that were given up are counted by realm`() async throws {
        let found = await checks(failed: [["demo", "3"], ["shop", "1"]]).all(connections: 4)
        let told = try #require(found.first { $0.verdict != .fine })
        #expect(told.check == "mails" && told.verdict == .warning)
        #expect(told.what == "given up: 3 in demo, 1 in shop")
        #expect(told.remedy?.hasPrefix("`urd mail list --failed --realm demo`") == true)
    }

    @Test(arguments: ["5", "7", nil])
    func `a schema of another version is a finding of the doctor`(version: String?) async {
        #expect(await verdicts(checks(schema: version))["schema"] == .wrong)
    }

    @Test func `a database that does not answer is a single finding`() async {
        let tools = DoctorTools(
            query: { _, _ in throw CommandFailure("refused") }, newestSchema: 6, now: { 0 })
        let all = await DatabaseChecks(tools: tools, address: "x").all(connections: 4)
        #expect(all.map(\.check) == ["database"])
        #expect(all.first?.verdict == .wrong)
    }

    @Test func `an empty answer to the doctor does no harm`() async {
        let tools = DoctorTools(query: { _, _ in [] }, newestSchema: 6, now: { 0 })
        let all = await DatabaseChecks(tools: tools, address: "x").all(connections: 4)
        #expect(all.contains { $0.verdict == .wrong })
    }

    @Test func `an impossible clock is a finding of the doctor`() {
        #expect(LocalChecks.clock(0).verdict == .wrong)
        #expect(LocalChecks.clock(1_800_000_000_000_000).verdict == .fine)
        #expect(LocalChecks.clock(Int64.max).verdict == .wrong)
    }

    @Test func `an installation without a trusted proxy is warned of http`() throws {
        let none = LocalChecks.proxies([])
        #expect(none.verdict == .warning && none.what.contains("http://"))
        #expect(none.remedy?.contains("URD_TRUSTED_PROXIES") == true)
        let some = try #require(Network.list("127.0.0.1, 10.0.0.0/8"))
        #expect(LocalChecks.proxies(some).verdict == .fine)
        #expect(LocalChecks.proxies(some).what.contains("10.0.0.0/8"))
    }

    @Test(arguments: [(2_000_000, nil), (2_001_000, 2001), (-7_200_000_000, 7_200_000)])
    func `clocks differ only by more than the network's delay`(there: Int64, told: Int64?) {
        #expect(Clocks.difference(1_800_000_000_000_000 + there, 1_800_000_000_000_000) == told)
    }

    @Test(arguments: [("1800000060000000", true), ("1800000060001000", false)])
    func `a clock more than a minute behind the latest event is warned of`(
        latest: String, isFine: Bool
    ) async throws {
        let all = await checks(latest: latest).all(connections: 4)
        let found = try #require(all.first { $0.check == "clocks" })
        #expect((found.verdict == .fine) == isFine)
        #expect(isFine || found.what.contains("60001 ms behind the last event of acme"))
    }

    @Test func `readiness says in words how clocks differ`() throws {
        let acme = try #require(RealmID("acme"))
        #expect(Clocks.words(difference: nil, latest: nil) == nil)
        #expect(Clocks.words(difference: 2_000_000, latest: (acme, 60_000_000)) == nil)
        #expect(
            Clocks.words(difference: -3_600_000_000, latest: nil)
                == "this machine's clock is 3600000 ms behind the database's, which counts")
        #expect(
            Clocks.words(difference: 2_001_000, latest: (acme, 61_000_000))
                == "this machine's clock is 2001 ms ahead of the database's, which counts; "
                + "the database's clock is 61000 ms behind the last event of acme")
    }

    @Test func `every finding of the doctor has a remedy`() {
        let findings = Findings(all: [
            .fine("a", "good"), .warning("b", "so so", mend: "do this"),
            .wrong("c", "bad", mend: "do that"),
        ])
        #expect(!findings.isHealthy)
        #expect(findings.text.contains("b: so so\n  do this"))
        #expect(findings.text.contains("c: bad\n  do that"))
        #expect(findings.text.hasSuffix("1 of 3 are wrong."))
        #expect(findings.json["healthy"] == false)
        #expect(findings.json["checks"]?[2]?["remedy"] == "do that")
        #expect(Findings(all: [.warning("b", "so so", mend: "x")]).isHealthy)
    }

    @Test func `the doctor's exit code is 1 where it has a finding`() async {
        let notes = Notes()
        let tools = DoctorTools(query: { _, _ in [] }, newestSchema: 6, now: { 0 })
        let program = Program(
            name: "urd", version: "0", commands: [Doctor(tools: tools)],
            environment: Environment(["URD_DRAIN": "never"]), console: notes.console())
        #expect(await program.run(["doctor", "--json"]) == .failure)
        #expect(notes.output.contains("\"check\": \"settings\""))
    }
}
