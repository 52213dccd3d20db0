import EventStore
import Values

extension DatabaseChecks {
    /// How old the last backup is. Nil where the schema does not tell.
    func backups(_ facts: [String: String]) async -> Diagnosis? {
        let check = "backups"
        guard facts["schema"].flatMap({ Int($0) }) ?? 0 >= LastBackup.firstSchema,
            let found = try? await tools.query(
                address,
                "select at::text, age::text from (\(LastBackup.question)) b (at, age)")
        else { return nil }
        let remedy = "Run urd backup DIR each day: systemctl enable --now urd-backup.timer."
        guard let row = found.first, row.count == 2, let at = row[0].flatMap({ Int64($0) }),
            let age = row[1].flatMap({ Int64($0) })
        else { return .warning(check, "none is on record", mend: remedy) }
        let words = "the last one is of \(Timestamp(seconds: at)), \(Self.words(age)) ago"
        return age > LastBackup.patience
            ? .warning(check, words, mend: remedy) : .fine(check, words)
    }

    private static func words(_ seconds: Int64) -> String {
        seconds < 2 * 3600
            ? "\(seconds / 60) minutes"
            : seconds < 2 * 86_400 ? "\(seconds / 3600) hours" : "\(seconds / 86_400) days"
    }
}
