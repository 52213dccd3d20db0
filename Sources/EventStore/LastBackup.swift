public import Postgres
public import Values

/// The newest backup that is on record in the database.
public struct LastBackup: Sendable, Equatable {
    /// The moment that it holds.
    public let at: Timestamp

    /// An older one is worth an alarm: backups are written daily.
    public static let patience: Int64 = 2 * 86_400
    /// The version of the schema that first knew of backups.
    public static let firstSchema = 40

    /// Its moment in seconds since 1970, and its age in seconds; no row where there is none.
    public static let question = """
        select extract(epoch from b.at)::bigint, extract(epoch from clock_timestamp() - b.at)::bigint
        from urd.backup b order by b.at desc limit 1
        """

    /// - Returns: nil where none is on record.
    public static func read(_ connection: Connection) throws(Failure) -> LastBackup? {
        let rows = try connection.execute(reading)
        return rows.isEmpty ? nil : LastBackup(at: Timestamp(seconds: rows.int64(0, 0)))
    }

    /// Puts a backup on record, as the owner of the schema.
    public static func note(
        at moment: Timestamp, bytes: Int64, isEncrypted: Bool, _ connection: Connection
    ) throws(Failure) {
        var parameters = Parameters()
        parameters.add(moment.description)
        parameters.add(bytes)
        parameters.add(isEncrypted)
        try connection.executeOnce(
            """
            insert into urd.backup (at, bytes, encrypted) values ($1::text::timestamptz, $2, $3)
            on conflict (at) do nothing
            """, parameters)
    }
}

private let reading = Statement("last_backup", LastBackup.question)
