/// PostgreSQL as it is installed: where its programs are, and its major version.
struct PostgresPrograms: Equatable, Sendable {
    let folder: String
    let major: Int

    static let oldest = 15

    func path(_ program: String) -> String { "\(folder)/\(program)" }

    /// The newest one, or the one that an existing cluster belongs to.
    static func find(clusterVersion: Int?, environment: Environment) throws -> PostgresPrograms {
        let found = installed(environment: environment).filter { $0.major >= oldest }
        if let wanted = clusterVersion {
            if let match = found.first(where: { $0.major == wanted }) { return match }
            let others = found.map { String($0.major) }.joined(separator: ", ")
            throw CommandFailure(
                "The data is of PostgreSQL \(wanted), which is not installed"
                    + (others.isEmpty ? "" : " (installed: \(others))"),
                remedy: "Install postgresql-\(wanted), or start anew with --fresh.")
        }
        guard let newest = found.max(by: { $0.major < $1.major }) else {
            throw CommandFailure(
                "There is no PostgreSQL server \(oldest) or newer on this machine",
                remedy: "Install it:  sudo apt-get install postgresql")
        }
        return newest
    }

    /// The folder of `pg_dump` and `pg_restore` for a server of this version: older ones refuse it. No server has to be there.
    static func folder(ofClientsFor major: Int, environment: Environment) throws -> String {
        let debian = "/usr/lib/postgresql"
        let numbered = ((try? File.names(in: debian)) ?? []).compactMap { Int($0) }.sorted()
        let folders =
            numbered.filter { $0 >= major }.map { "\(debian)/\($0)/bin" }
            + (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        for folder in folders where File.isExecutable(folder + "/pg_restore") {
            guard let answer = output(of: folder + "/pg_dump", ["--version"]),
                let found = Self.major(of: answer), found >= major
            else { continue }
            return folder
        }
        throw CommandFailure(
            "there is no pg_dump for PostgreSQL \(major) on this machine",
            remedy: "Install it:  sudo apt-get install postgresql-client-\(major)")
    }

    /// Debian's folders, what `pg_config` says, and the folders of the PATH.
    private static func installed(environment: Environment) -> [PostgresPrograms] {
        var found: [PostgresPrograms] = []
        let debian = "/usr/lib/postgresql"
        for name in (try? File.names(in: debian)) ?? [] {
            guard let major = Int(name) else { continue }
            found.append(PostgresPrograms(folder: "\(debian)/\(name)/bin", major: major))
        }
        var folders: [String] = []
        if let answer = output(of: "/usr/bin/pg_config", ["--bindir"]) { folders.append(answer) }
        folders += (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        for folder in folders where File.isExecutable(folder + "/initdb") {
            guard !found.contains(where: { $0.folder == folder }),
                let answer = output(of: folder + "/postgres", ["--version"]),
                let major = major(of: answer)
            else { continue }
            found.append(PostgresPrograms(folder: folder, major: major))
        }
        return found.filter { programs in
            ["initdb", "postgres", "psql"].allSatisfy { File.isExecutable(programs.path($0)) }
        }
    }

    /// "postgres (PostgreSQL) 15.4 (Debian 15.4-1)" is of version 15.
    static func major(of text: String) -> Int? {
        for word in text.split(separator: " ") {
            let digits = word.prefix(while: { $0.isASCII && $0.isNumber })
            if let number = Int(digits) { return number }
        }
        return nil
    }

    private static func output(of program: String, _ arguments: [String]) -> String? {
        guard File.isExecutable(program),
            let result = try? ChildProcess(executable: program, arguments: arguments).run(),
            result.ending.isSuccess
        else { return nil }
        return result.output.split(whereSeparator: \.isNewline).first.map(String.init)
    }
}
