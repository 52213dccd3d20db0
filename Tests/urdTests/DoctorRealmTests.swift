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
