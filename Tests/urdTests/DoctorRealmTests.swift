import EventStore
import Synchronization
import Testing

@testable import urd

@Suite("The doctor, on what is written and sealed")
struct DoctorRealmTests {
    private func checks(
        refusal: String? = nil, write: WriteTrial = .done
    ) -> DatabaseChecks {
        var tools = DoctorTools(query: { _, _ in [] }, newestSchema: 6, now: { 0 })
        tools.refusal = { _ in refusal }
        tools.write = { _ in write }
        return DatabaseChecks(tools: tools, address: "postgresql://x")
    }

    @Test(arguments: [
        (WriteTrial.diskFull, "the database's disk is full"),
        (.refused("read-only"), "they are refused: read-only"),
    ])
    func `a database that takes no writes is a finding of the doctor`(
        trial: WriteTrial, what: String
    ) async {
        let found = await checks(write: trial).writes([:])
        #expect(found?.verdict == .wrong)
        #expect(found?.what == what)
        let all = await checks(write: trial).all(connections: 4)
        #expect(all.contains { $0.check == "writes" && $0.verdict == .wrong })
    }

    @Test func `a database that takes writes, or that may not be tried, is fine`() async {
        #expect(await checks().writes([:])?.verdict == .fine)
        #expect(await checks(write: .forbidden).writes([:])?.verdict == .fine)
        #expect(await checks(write: .refused("a replica")).writes(["recovery": "true"]) == nil)
    }

    @Test func `a schema of another build is a finding of the doctor`() async {
        let facts = ["migrations": "urd.migration", "schema": "6"]
        #expect(await checks().build(facts).verdict == .fine)
        let found = await checks(refusal: "the database belongs to another build").build(facts)
        #expect(found.verdict == .wrong)
        #expect(found.what == "the database belongs to another build")
        #expect(found.remedy?.isEmpty == false)
    }

    @Test func `a schema that this program does not go on from is a finding of the doctor`() async {
        let facts = ["migrations": "urd.migration", "schema": "5"]
        #expect(await checks().build(facts).what == "version 5, this program needs 6")
        let found = await checks(refusal: "this binary begins at 6").build(facts)
        #expect(found.verdict == .wrong)
        #expect(found.what == "this binary begins at 6")
        #expect(found.remedy?.contains("deploy/README.md") == true)
        // Of a newer one it is known enough.
        let newer = ["migrations": "urd.migration", "schema": "7"]
        #expect(await checks(refusal: "newer").build(newer).what.contains("than this program"))
    }

    @Test func `another master key is the doctor's only finding`() {
        let found = RealmsReport(isOtherMasterKey: true).diagnoses
        #expect(found.map(\.verdict) == [.wrong])
        #expect(found.first?.what == "another master key wraps those in the database")
    }

    @Test func `realms that a rotation left behind are named with their remedy`() {
        let found = RealmsReport(leftBehind: ["rota", "rotb"]).diagnoses
        #expect(found.map(\.verdict) == [.wrong, .fine, .fine])
        #expect(found.first?.what == "another master key wraps those of rota, rotb")
        #expect(found.first?.remedy?.contains("urd keys rotate-master --old") == true)
    }

    @Test func `each key that cannot be read is named beside what else is wrong with keys`() {
        let found = RealmsReport(
            leftBehind: ["rota"], keyless: ["gone"],
            lostKeys: [
                .init(realm: "demo", purpose: "mac", version: 2),
                .init(realm: "acme", purpose: "sign", version: 1),
                .init(realm: "demo", purpose: "wrap", version: 1),
            ]
        ).diagnoses
        #expect(found.map(\.verdict) == [.wrong, .fine, .fine])
        #expect(
            found.first?.what
                == "those of gone are gone from the database; rows that cannot be read: "
                + "acme (sign 1), demo (mac 2, wrap 1); another master key wraps those of rota")
        #expect(found.first?.remedy?.contains("urd.realm_key back from a backup") == true)
    }

    @Test(
        arguments: [
            (
                [["7", "postgres", "psql", "3/7", nil, "table", "command"]], true,
                "session 7 (postgres, psql) has locked urd.command for 3 s: no write gets through"
            ),
            (
                [["7", "urd_app", "", "3/7", "95.2", "log", "acme"]], true,
                "session 7 (urd_app) has locked the log of acme for 95 s: no write to it gets through"
            ),
            (
                [["0", "?", "", "-1/7", nil, "rows", nil]], true,
                "a prepared transaction has kept others waiting for 3 s"
            ),
            // Another transaction at the second look.
            (
                [["7", "postgres", "psql", "3/8", nil, "table", "command"]], false,
                "no session keeps writes out"
            ),
        ] as [([[String?]], Bool, String)])
    func `who keeps writes out at two looks is named by the doctor`(
        rows: [[String?]], isWrong: Bool, what: String
    ) async throws {
        let looks = Mutex(0)
        var tools = DoctorTools(
            query: { _, sql in
                guard sql.contains("pg_locks"), !sql.contains("h.xmax") else { return [] }
                let look = looks.withLock {
                    $0 += 1
                    return $0
                }
                var found = rows
                if !isWrong, look == 1 { found[0][3] = "3/7" }
                return found
            }, newestSchema: 6, now: { 0 })
        tools.pause = { _ in looks.withLock { #expect($0 == 1) } }
        let found = try #require(
            await DatabaseChecks(tools: tools, address: "x").locks(["log": "urd.event"]))
        #expect(found.verdict == (isWrong ? .wrong : .fine))
        #expect(found.what == what)
        #expect(looks.withLock { $0 } == 2)
    }

    @Test func `a read model that stands still is named by the doctor`() async throws {
        let tools = DoctorTools(
            query: { _, sql in
                sql.contains("distinct on (w.projection)")
                    ? [["audit_trail", "demo", "95000", "12", "3"]] : []
            }, newestSchema: 6, now: { 0 })
        let found = await DatabaseChecks(tools: tools, address: "x").readModels([
            "log": "urd.event", "schema": "6",
        ])
        #expect(found?.verdict == .wrong)
        #expect(
            found?.what
                == "audit_trail: nothing applied in demo for 95 s, 12 events wait (and in 2 more realms)"
        )
    }

    @Test func `a read model whose position is gone is named by the doctor with what mends it`()
        async throws
    {
        let tools = DoctorTools(
            query: { _, sql in sql.contains("not exists") ? [["clients", "demo"]] : [] },
            newestSchema: 6, now: { 0 })
        let found = await DatabaseChecks(tools: tools, address: "x").readModels([
            "log": "urd.event", "schema": "6",
        ])
        #expect(found?.verdict == .wrong)
        #expect(found?.what == "the position of clients in demo is lost")
        #expect(found?.remedy?.contains("urd projections rebuild clients") == true)
    }

    @Test(arguments: [
        ("not_connected", "last reason: not_connected"), (nil, "and no attempt is on record"),
    ])
    func `mails that wait for long are counted by the doctor, with the last reason`(
        reason: String?, words: String
    ) async throws {
        let tools = DoctorTools(
            query: { _, sql in
                sql.contains("mail.deferred")
                    ? [["mails", "7", "1790000000000000", "605.5", "demo", reason]] : []
            }, newestSchema: 6, now: { 0 })
        let found = await DatabaseChecks(tools: tools, address: "x").mails([
            "log": "urd.event", "schema": "6",
        ])
        #expect(found?.verdict == .wrong)
        #expect(
            found?.what
                == "7 mails wait, the oldest since 2026-09-21T14:13:20.000000Z in demo, " + words)
    }

    @Test func `a log that does not continue what was signed is named`() {
        let found = RealmsReport(unsound: [.init(realm: "demo", why: "position 7: gone.")])
            .diagnoses
        #expect(found.map(\.verdict) == [.fine, .wrong, .fine])
        #expect(found[1].what == "demo: position 7: gone.")
        #expect(found[1].remedy?.contains("urd verify --realm demo") == true)
        #expect(RealmsReport().diagnoses.allSatisfy { $0.verdict == .fine })
    }

    @Test func `unreadable sealed events are named with their realm`() {
        let found = RealmsReport(unreadable: [.init(realm: "demo", why: "3 sealed events.")])
            .diagnoses
        #expect(found.map(\.verdict) == [.fine, .fine, .wrong])
        #expect(found.last?.what == "demo: 3 sealed events.")
        #expect(found.last?.remedy?.contains("urd verify --realm demo") == true)
    }

    @Test(arguments: [
        ("", false), ("mysql://x", false), ("https://host/urd", false), ("mysql://x?a=b", false),
        ("postgresql://urd_app@host/urd", true), ("postgres://host/urd", true),
        ("host=/run/postgresql dbname=urd password=a://b", true), ("urd", true),
    ])
    func `an address that is not PostgreSQL's is refused`(text: String, isTaken: Bool) {
        #expect(Settings.databaseURL.check(text) == isTaken)
        #expect(Settings.databaseOwnerURL.check(text) == isTaken)
    }
}
