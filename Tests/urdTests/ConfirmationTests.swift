import API
import JSON
import Testing

@testable import urd

/// Notes that it ran.
private struct Demolish: Subcommand {
    static let path = ["house", "demolish"]
    static let summary = "Demolish a house"
    static let examples = ["urd house demolish"]
    static let options = [Option.json, .value("realm", "realm", "The realm")]
    static let operands = [Operand("house", "Its name")]
    static let consequence = Consequence.destructive("demolishes the house")

    func run(_ call: Invocation) async throws -> ExitCode {
        call.console.write("gone")
        return .success
    }

    func preview(_ call: Invocation) async throws -> Preview {
        Preview(
            name: call.arguments.operand("house") ?? "",
            rows: [Preview.Row(label: "rooms", value: "12")])
    }
}

/// Destructive only with an option, and with nothing to name but its realm.
private struct GiveUp: Subcommand {
    static let path = ["log", "give-up"]
    static let summary = "Give up"
    static let examples = ["urd log give-up"]
    static let options = [
        Option.value("realm", "realm", "The realm"), .value("size", "size", "How much"),
    ]
    static let consequence = Consequence.destructive("gives it up", with: "size")

    func run(_ call: Invocation) async throws -> ExitCode {
        call.console.write("gone")
        return .success
    }
}

@Suite struct `A destructive command` {
    private func asked(
        _ line: String, typing answer: String? = nil
    ) async -> (code: ExitCode, output: String, error: String) {
        let notes = Notes()
        let program = Program(
            name: "urd", version: "1.2.3", commands: [Demolish(), GiveUp()],
            environment: Environment(["URD_REALM": "acme"]),
            console: answer == nil ? notes.console() : notes.terminal(typing: answer ?? ""))
        let code = await program.run(line.split(separator: " ").map(String.init))
        return (code, notes.output, notes.error)
    }

    @Test func `a destructive command in a pipe needs --yes and says so`() async {
        let refused = await asked("house demolish villa")
        #expect(refused.code == .usage)
        #expect(refused.output.isEmpty)
        #expect(
            refused.error.contains(
                "`urd house demolish` demolishes the house: give --yes, since there is no terminal")
        )
        let done = await asked("house demolish villa --yes")
        #expect(done.code == .success)
        #expect(done.output == "gone\n")
    }

    @Test func `a destructive command on a terminal shows what goes and needs its name typed`()
        async
    {
        let done = await asked("house demolish villa", typing: "villa")
        #expect(done.code == .success)
        #expect(done.output == "gone\n")
        #expect(done.error.contains("`urd house demolish` demolishes the house."))
        #expect(done.error.contains("rooms  12"))
        #expect(done.error.hasSuffix("Type villa to confirm: "))
    }

    @Test(arguments: ["", "y", "yes", "Villa", "vila"])
    func `a destructive command on a terminal changes nothing when another text is typed`(
        answer: String
    ) async {
        let refused = await asked("house demolish villa", typing: answer)
        #expect(refused.code == .failure)
        #expect(refused.output.isEmpty)
        #expect(refused.error.contains("nothing was changed"))
    }

    @Test func `a destructive command with --dry-run shows what would go, even beside --yes`()
        async throws
    {
        let shown = await asked("house demolish villa --dry-run --yes")
        #expect(shown.code == .success)
        #expect(shown.output.contains("rooms  12"))
        #expect(shown.output.hasSuffix("Nothing was changed (--dry-run).\n"))
        #expect(!shown.output.contains("gone"))
        let told = await asked("house demolish villa --dry-run --json")
        let json = try JSON.parse(Array(told.output.utf8))
        #expect(json["dry_run"] == true)
        #expect(json["name"] == "villa")
        #expect(json["found"]?["rooms"] == "12")
    }

    @Test func `an option that makes a command destructive asks for the realm's name`()
        async
    {
        #expect(await asked("log give-up").output == "gone\n")
        #expect(await asked("log give-up --size 3").code == .usage)
        let done = await asked("log give-up --size 3", typing: "acme")
        #expect(done.output == "gone\n")
        #expect(done.error.contains("Type acme to confirm"))
    }

    /// Words in a command's name after which it is destructive.
    private static let words: Set<String> = [
        "accept", "delete", "destroy", "disable", "drop", "end", "erase", "purge", "release",
        "remove", "reset", "retire", "revoke", "rollback", "rotate", "out", "unlink",
    ]

    @Test func `every command whose name or route takes something away is destructive`() {
        let removals = Set(
            API.operations.filter(\.isRemoval).compactMap { $0.words?.joined(separator: " ") })
        // A release of Urd is what one downloads.
        for form in Commands.all.map(\.form) where form.name != "verify-release" {
            let named = form.path.flatMap { $0.split(separator: "-").map(String.init) }
            let takesAway = !Self.words.isDisjoint(with: named) || removals.contains(form.name)
            #expect(
                form.consequence.isDestructive == takesAway,
                "\(form.name): its consequence and its name do not agree")
        }
    }

    @Test func `a destructive command's preview is a known operation`() {
        let known = Set(API.operations.map(\.id))
        let callable = Set(API.operations.filter { $0.words != nil }.map(\.id))
        for (id, consequence) in RouteConsequence.all {
            let read =
                [id, consequence.reading].compactMap { $0 } + consequence.counts.map(\.operation)
            #expect(known.isSuperset(of: read), "\(id) reads \(read)")
            #expect(callable.contains(id))
        }
    }
}
