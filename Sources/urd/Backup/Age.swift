/// To whom a backup is encrypted, by the program `age`.
struct AgeRecipients: Equatable, Sendable {
    static let fileExtension = ".age"

    let program: ChildProcess

    /// - Parameter recipients: public keys (`age1…`, `ssh-ed25519 …`), or files of them.
    init(_ recipients: [String], environment: Environment) throws {
        var arguments: [String] = []
        for one in recipients {
            let isKey = one.hasPrefix("age1") || one.hasPrefix("ssh-")
            arguments += isKey ? ["-r", one] : ["-R", try Path.absolute(one)]
        }
        program = try Age.program(arguments, environment)
    }

    static func == (left: AgeRecipients, right: AgeRecipients) -> Bool {
        left.program.arguments == right.program.arguments
    }
}

/// By what an encrypted backup is read.
struct AgeIdentity: Sendable {
    let program: ChildProcess

    init(_ file: String, environment: Environment) throws {
        program = try Age.program(["-d", "-i", try Path.absolute(file)], environment)
    }
}

private enum Age {
    static func program(_ arguments: [String], _ environment: Environment) throws -> ChildProcess {
        let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        guard
            let path = (folders + ["/usr/bin"]).map({ $0 + "/age" }).first(
                where: File.isExecutable)
        else {
            throw CommandFailure(
                "the program age is not on this machine",
                remedy: "Install it:  sudo apt-get install age")
        }
        return ChildProcess(executable: path, arguments: arguments, signalWhenWeDie: "TERM")
    }
}
