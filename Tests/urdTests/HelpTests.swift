import API
import Testing

@testable import urd

@Suite struct `Help` {
    private func told(_ line: String) async -> (code: ExitCode, output: String, error: String) {
        let notes = Notes()
        let program = Program(
            name: "urd", version: "1.2.3", commands: Commands.all, environment: Environment([:]),
            console: notes.console())
        let code = await program.run(line.split(separator: " ").map(String.init))
        return (code, notes.output, notes.error)
    }

    @Test func `help fits one screen and has a group for every command`() async {
        let lines = await told("--help").output.split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 42, "\(lines.count) lines")
        #expect(lines.allSatisfy { $0.count <= HelpText.width })
        for form in Commands.all.map(\.form) {
            #expect(CommandGroup.all.count { $0.has(form) } == 1, "\(form.name) has no group")
        }
    }

    @Test(arguments: CommandGroup.all.map(\.name))
    func `help on a group lists its commands and no others`(name: String) async throws {
        let group = try #require(CommandGroup.all.first { $0.name == name })
        let result = await told("help \(name)")
        #expect(result.code == .success)
        for form in Commands.all.map(\.form) {
            let isListed = result.output.split(separator: "\n").contains {
                $0 == "  \(form.name)" || $0.hasPrefix("  \(form.name)  ")
            }
            #expect(isListed == group.has(form), "\(form.name)")
        }
    }

    @Test func `help lists each setting on a page of its own`() async {
        let page = await told("help settings").output
        for setting in Settings.table { #expect(page.contains("--\(setting.name)")) }
        for setting in Settings.table { #expect(page.contains(setting.variable)) }
        let serve = await told("serve --help").output
        #expect(serve.contains("`urd help settings`"))
        #expect(!serve.contains("--query-queue"))
    }

    @Test func `help for an unknown word suggests the nearest one`() async {
        let result = await told("help setings")
        #expect(result.code == .usage)
        #expect(result.error.contains("there is no help on 'setings'; did you mean settings?"))
    }

    /// What a summary begins with.
    private static let verbs: Set<String> = [
        "Accept", "Appoint", "Assign", "Bring", "Build", "Cancel", "Change", "Close", "Count",
        "Confirm",
        "Create",
        "Delete", "Destroy", "Disable", "Enable", "End", "Erase", "Find", "Give", "Link", "List",
        "Pause", "Print",
        "Prove", "Read", "Register", "Release", "Remove", "Replace", "Resume", "Revoke", "Retire",
        "Rotate",
        "Schedule", "Send", "Serve", "Set", "Show", "Start", "Switch", "Try", "Unlink", "Update",
        "Import",
        "Verify",
        "Watch",
        "Wrap", "Write",
    ]

    @Test func `help says what every command does, in the imperative and in plain words`() {
        for form in Commands.all.map(\.form) {
            let words = form.summary.split { !$0.isLetter }.map { String($0) }
            #expect(Self.verbs.contains(words.first ?? ""), "\(form.name): \(form.summary)")
            let riddles: Set<String> = ["whoever", "whatever", "somebody", "such"]
            #expect(riddles.isDisjoint(with: words.map { $0.lowercased() }), "\(form.name)")
            #expect(!form.summary.contains("one of them"), "\(form.name)")
        }
    }

    @Test func `help has a valid example for every command`() throws {
        let forms = Commands.all.map(\.form)
        for form in forms {
            #expect(!form.examples.isEmpty, "\(form.name)")
            for example in form.examples {
                let text = example.replacing("\\\n", with: " ")
                let words = Self.words(text)
                #expect(words.starts(with: ["urd"] + form.path), "\(example)")
                // Redirections are the shell's.
                let own = words.dropFirst(form.path.count + 1).filter { !$0.hasPrefix(">") }
                _ = try Arguments(own, options: form.allOptions, operands: form.operands)
                #expect(HelpText.page(of: form, program: "urd").contains(example))
            }
        }
    }

    /// As a shell parts them, where nothing is escaped.
    private static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            switch character {
            case _ where character == quote: quote = nil
            case "\"" where quote == nil, "'" where quote == nil:
                quote = character
                word = word ?? ""
            case " " where quote == nil:
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }
}

@Suite struct `The completion script` {
    @Test(arguments: CompletionScript.shells)
    func `the completion script knows every word of every command`(shell: String) throws {
        let forms = Commands.all.map(\.form)
        let script = try #require(CompletionScript(of: forms).text(for: shell))
        for form in forms {
            for word in form.path { #expect(script.contains(word), "\(word)") }
            for option in form.allOptions { #expect(script.contains("--\(option.name)")) }
        }
    }

    @Test func `the completion script exists for known shells and suggests one otherwise`()
        async
    {
        let notes = Notes()
        let program = Program(
            name: "urd", version: "1.2.3", commands: [Completion()], environment: Environment([:]),
            console: notes.console())
        #expect(await program.run(["completion", "bash"]) == .success)
        #expect(notes.output.hasPrefix("# bash completion of urd\n"))
        #expect(await program.run(["completion", "fsh"]) == .usage)
        #expect(notes.error.contains("there is no completion for 'fsh'; did you mean fish?"))
    }
}
