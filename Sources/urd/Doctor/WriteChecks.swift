import EventStore

/// The outcome of a trial write.
enum WriteTrial: Equatable, Sendable {
    case done
    /// The role may not try.
    case forbidden
    case diskFull
    case refused(String)
}

extension DatabaseChecks {
    /// Nil on a standby, which takes no writes.
    func writes(_ facts: [String: String]) async -> Diagnosis? {
        let check = "writes"
        guard facts["recovery"] != "true" else { return nil }
        switch await tools.write(address) {
        case .done: return .fine(check, "they are taken")
        case .forbidden: return .fine(check, "not tried: this role makes no temporary tables")
        case .diskFull:
            return .wrong(
                check, "the database's disk is full",
                mend: "Make room on the disk of PostgreSQL; Urd goes on by itself.")
        case .refused(let why):
            return .wrong(
                check, "they are refused: \(why)",
                mend: "Look at PostgreSQL's log, and at default_transaction_read_only.")
        }
    }

    /// The schema by its version, and whether it is this build's.
    func build(_ facts: [String: String]) async -> Diagnosis {
        let found = schema(facts)
        guard let version = facts["schema"].flatMap({ Int($0) }), version <= tools.newestSchema
        else { return found }
        do {
            guard let refusal = try await tools.refusal(address) else { return found }
            return .wrong(
                found.check, refusal,
                mend: version < Migrator.firstSchema
                    ? "See \"A schema of before version 38\" in deploy/README.md."
                    : "Run the build that migrated it, or one that was made from it.")
        } catch {
            return .wrong(
                found.check, "cannot be looked at: \(error)", mend: "Run: urd migrate --check")
        }
    }
}
