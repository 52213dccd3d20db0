import EventStore
import Postgres
import Threads

/// Tries what Urd needs of a PostgreSQL, in a schema of its own, which is dropped afterwards: whether it is made by
/// Debian or rented makes no difference to what is asked.
struct EngineTrial: Sendable {
    static let (writers, rounds) = (8, 25)

    /// One promise: what it found, or what it throws.
    struct Trial: Sendable {
        let check: String
        let mend: String
        let run: @Sendable (EngineTrial, Connection) throws -> String
    }

    /// What PostgreSQL did, and must not.
    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    let address: String
    let schema: String

    init(address: String) {
        self.address = address
        schema = "urd_engine_" + String(UInt64.random(in: 0 ... .max), radix: 36)
    }

    /// Everything but a restart.
    func all(_ tools: DoctorTools) async -> [Diagnosis] {
        let checks = DatabaseChecks(tools: tools, address: address)
        let facts: [String: String]
        do {
            facts = try await checks.look()
        } catch {
            return [.unreachable(error)]
        }
        let server = checks.server(facts)
        guard server.verdict != .wrong else { return [server] }
        var all = [
            server, checks.durability(facts), checks.clocks(facts), checks.timeZone(facts),
            checks.room(facts, connections: Self.writers),
        ]
        do {
            try await work { connection in
                _ = try connection.run("create schema \(schema)")
            }
        } catch {
            all.append(
                .wrong(
                    "rights", "this role may make no schema: \(Self.words(error))",
                    mend: "grant create on database … to the role that will own Urd's tables"))
            return all
        }
        all.append(.fine("rights", "this role may make schemas"))
        for trial in Self.trials { all.append(await verdict(trial)) }
        await dropSchema()
        return all
    }

    /// In the database's own words: the operator asked for them.
    private static func words(_ error: any Error) -> String {
        let failure = error as? Postgres.Failure
        return (failure.map { $0.explanation ?? $0.debugDescription } ?? "\(error)")
            .split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    private func verdict(_ trial: Trial) async -> Diagnosis {
        do {
            return .fine(trial.check, try await work { try trial.run(self, $0) })
        } catch {
            return .wrong(trial.check, Self.words(error), mend: trial.mend)
        }
    }

    func connect() throws(Postgres.Failure) -> Connection {
        try Connection(address, application: "urd doctor engine")
    }

    /// Drops the schema of the trial, if it was made.
    func dropSchema() async {
        _ = try? await work { _ = try $0.run("drop schema if exists \(schema) cascade") }
    }

    func work<Value: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Value
    ) async throws -> Value {
        try await DedicatedThread.run { try body(connect()) }
    }
}

extension Diagnosis {
    static func unreachable(_ error: any Error) -> Diagnosis {
        .wrong(
            "database", "cannot be reached: \(error)",
            mend: "See that PostgreSQL runs, and that the address names its host, port, database "
                + "and role.")
    }
}
