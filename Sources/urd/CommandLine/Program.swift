import JSON
import Postgres
import Values

/// Finds the command that the words name, runs it, and turns what it throws into text and a code.
struct Program: Sendable {
    let name: String
    let version: String
    let commands: [any AnySubcommand]
    let environment: Environment
    let console: Console

    func run(_ words: [String]) async -> ExitCode {
        let code = await answer(words)
        guard let failure = console.outputFailure else { return code }
        complain(CommandFailure("\(failure)", remedy: "The result is not whole."), words)
        return .failure
    }

    private func answer(_ words: [String]) async -> ExitCode {
        do {
            return try await dispatch(words)
        } catch is OutputLost {
            return .success
        } catch let error as UsageError {
            let remedy = "`\(helpCommand(for: words))` shows how to ask."
            complain(CommandFailure(error.description, remedy: remedy), words)
            return usage(of: words)
        } catch let error as SettingsFailure {
            complain(CommandFailure(error.description), words)
            return usage(of: words)
        } catch let error as CommandFailure {
            complain(error, words)
            return error.code
        } catch let error as Postgres.Failure {
            complain(CommandFailure(error), words)
            return .failure
        } catch {
            complain(CommandFailure("\(error)"), words)
            return .failure
        }
    }

    private func usage(of words: [String]) -> ExitCode {
        let path = Array(words.prefix(while: { !$0.hasPrefix("-") }))
        return command(at: path) is any ComparingCommand ? .failure : .usage
    }

    /// To a program that asked for JSON in JSON, one value on one line.
    private func complain(_ failure: CommandFailure, _ words: [String]) {
        guard words.prefix(while: { $0 != "--" }).contains("--json") else {
            return console.complain("\(name): \(failure.description)")
        }
        var members: JSONObject = ["error": .string(failure.what)]
        members["remedy"] = failure.remedy.map { .string($0) }
        console.complain(.object(members))
    }

    private func dispatch(_ words: [String]) async throws -> ExitCode {
        let path = Array(words.prefix(while: { !$0.hasPrefix("-") }))
        if let command = command(at: path) {
            let form = command.form
            let rest = words.dropFirst(form.path.count)
            let options = rest.prefix(while: { $0 != "--" })
            if options.contains("--help") || options.contains("-h") {
                console.write(HelpText.page(of: form, program: name))
                return .success
            }
            let arguments = try Arguments(
                rest, options: form.allOptions + [.help], operands: form.operands)
            let call = Invocation(
                arguments: arguments, environment: environment, console: console,
                settingsOfCommand: form.settings)
            let confirmation = Confirmation(command: command, form: form, call: call)
            guard try await confirmation.mayRun() else { return .success }
            return try await command.run(call)
        }
        if path == ["help"] || path == ["version"] || path.isEmpty { return try overview(words) }
        if path.first == "help" { return try await help(Array(path.dropFirst())) }
        if isGroup(path) {
            console.write(HelpText.list(of: commands, under: path, program: name))
            return words.contains("--help") || words.contains("-h") ? .success : .usage
        }
        throw UsageError(unknown(path))
    }

    /// `urd help client register`, `urd help audit`.
    private func help(_ topic: [String]) async throws -> ExitCode {
        if topic.count == 1,
            let page = HelpText.topic(topic[0], of: commands, program: name)
        {
            console.write(page)
            return .success
        }
        guard command(at: topic) != nil || isGroup(topic) else {
            let known =
                HelpText.topics + commands.map { $0.form.name } + commands.map { $0.form.path[0] }
            let asked = topic.joined(separator: " ")
            throw UsageError(
                "there is no help on '\(asked)'" + NearestName.hint(for: asked, among: known)
                    + "; the topics are \(HelpText.topics.joined(separator: ", "))")
        }
        return try await dispatch(topic + ["--help"])
    }

    /// `urd`, `urd --help`, `urd --version`; without a word the help is a complaint.
    private func overview(_ words: [String]) throws(UsageError) -> ExitCode {
        let text = HelpText.overview(of: commands, program: name)
        switch words.first {
        case nil:
            console.complain(text)
            return .usage
        case "--help", "-h", "help":
            console.write(text)
            return .success
        case "--version", "-V", "version":
            console.write("\(name) \(version)")
            return .success
        case .some(let option):
            throw UsageError(
                "unknown option \(option)"
                    + NearestName.hint(for: option, among: ["--help", "--version"]))
        }
    }

    /// The longest path that the words begin with: `client register` before `client`.
    private func command(at words: [String]) -> (any AnySubcommand)? {
        commands
            .filter { words.starts(with: $0.form.path) }
            .max { $0.form.path.count < $1.form.path.count }
    }

    private func isGroup(_ path: [String]) -> Bool {
        commands.contains { $0.form.path.starts(with: path) }
    }

    private func unknown(_ path: [String]) -> String {
        let known = commands.map { $0.form.name }
        let group = path.indices.map { Array(path[...$0]) }.last(where: isGroup)
        // The words after the first unknown word may be its operands.
        let asked = path.prefix(max(2, (group?.count ?? 0) + 1)).joined(separator: " ")
        let hint =
            NearestName.find(asked, among: known)
            ?? (group == nil
                ? NearestName.find(path[0], among: known + commands.map { $0.form.path[0] }) : nil)
        if let hint { return "unknown command '\(asked)'; did you mean '\(hint)'?" }
        guard let group else { return "unknown command '\(asked)'" }
        let own = commands.map(\.form.path).filter { $0.starts(with: group) }
            .map { $0.dropFirst(group.count).joined(separator: " ") }
        return "unknown command '\(asked)'; `\(([name] + group).joined(separator: " "))` has "
            + own.joined(separator: ", ")
    }

    private func helpCommand(for words: [String]) -> String {
        let path = Array(words.prefix(while: { !$0.hasPrefix("-") }))
        let known = command(at: path).map { $0.form.path } ?? []
        return ([name] + known + ["--help"]).joined(separator: " ")
    }
}
