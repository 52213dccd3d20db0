import EventStore

extension DatabaseChecks {
    /// A lock that is held for a moment is nothing: who holds one is looked at twice.
    private static let between = Duration.seconds(3)

    /// The sessions whose locks block writes. Nil where there is no log yet.
    func locks(_ facts: [String: String]) async -> Diagnosis? {
        let check = "locks"
        guard facts["log"]?.isEmpty == false else { return nil }
        let found: [WriteBlock]
        do {
            found = try await lastingBlocks()
        } catch {
            return .warning(
                check, "cannot be looked at: \(error)", mend: "Look at pg_locks yourself.")
        }
        guard let first = found.first else { return .fine(check, "no session keeps writes out") }
        let least = Int(Self.between.components.seconds)
        let end =
            first.process == 0
            ? "See pg_prepared_xacts, and roll it back: rollback prepared."
            : "End it, if it is not known what it does: select pg_terminate_backend("
                + "\(first.process)), as \(first.role) or a superuser."
        return .wrong(
            check,
            found.map { $0.words(for: max(least, Int($0.age ?? 0))) }.joined(separator: "; "),
            mend: end
                + " Nothing is lost: who was told 503 repeats. How long it has really lasted is "
                + "in pg_stat_activity (xact_start).")
    }

    private func lastingBlocks() async throws -> [WriteBlock] {
        func look() async throws -> [WriteBlock] {
            try await WriteBlock.find { try await tools.query(address, $0) }
        }
        let before = try await look()
        guard !before.isEmpty else { return [] }
        await tools.pause(Self.between)
        return try await look().filter { block in before.contains { $0.isOfTransaction(block) } }
    }
}
