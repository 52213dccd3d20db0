import EventSourcing
import Identity
import JSON
import Testing

@testable import urd

@Suite struct `Event types on the command line` {
    private func run(_ words: String...) async -> (code: ExitCode, output: String, error: String) {
        let notes = Notes()
        let program = Program(
            name: "urd", version: "1.2.3", commands: [EventsTypes(), EventsDescribe()],
            environment: Environment([:]), console: notes.console())
        let code = await program.run(["events"] + words)
        return (code, notes.output, notes.error)
    }

    @Test func `all types are listed with those who are told and a sentence`() async throws {
        let all = await run("types")
        #expect(all.code == .success)
        #expect(all.output.split(separator: "\n").count >= EventCatalogue.newest.count)
        let some = await run("types", "session.", "--json")
        let items = try #require(try JSON.parse(Array(some.output.utf8)).array)
        #expect(items.count == 5)
        #expect(items[1]["type"] == "session.ended" && items[1]["reach"] == "services")
        let slip = await run("types", "sesion")
        #expect(slip.code == .usage && slip.error.contains("did you mean session?"))
    }

    @Test func `no description of a type is wider than a table`() async {
        for shape in EventCatalogue.newest {
            let lines = await run("describe", shape.name).output.split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= Table.width }, "\(shape.name)")
        }
    }

    @Test func `a type is described with its fields and what it is elsewhere`() async throws {
        let text = await run("describe", "client.secret_rotated").output
        #expect(text.contains("secret_digest") && text.contains("never-leaves"))
        #expect(text.contains("OCSF 1.8.0:\n  3004/3"))
        let ended = await run("describe", "session.ended").output
        #expect(ended.contains("caep:session-revoked (session and user)"))
        #expect(ended.contains("Told to: services"))
        let json = try JSON.parse(
            Array(await run("describe", "session.ended", "--json").output.utf8))
        #expect(json["fields"]?.array?.contains { $0["name"] == "reason" } == true)
        #expect(json["ocsf"] == ["3002/2"])
        let slip = await run("describe", "sesion.ended")
        #expect(slip.code == .usage && slip.error.contains("did you mean session.ended?"))
    }
}
