import Postgres

extension BuildRun {
    /// Lets readers see a build, in one short transaction; the live one becomes the previous one. Who
    /// reads goes on reading, and is waited for.
    func becomeLive(_ build: Int, readers: String, mayHalt: Bool) throws {
        let before = try Builds.number(of: projection.name, "live", connection)
        let wait = ReaderWait(
            relations: views(in: readers), pace: engine.pace, connection: connection,
            report: report)
        try wait.run {
            if !mayHalt { try catchUp(build, mayHalt: false) }
        } switching: { connection throws(Postgres.Failure) in
            try show(readers, connection)
            try exchange(build, before, connection)
        }
    }

    /// A view can be replaced while its columns stay; otherwise it has to go first.
    private func show(_ readers: String, _ connection: Connection) throws(Postgres.Failure) {
        try connection.run("savepoint views")
        do throws(Postgres.Failure) {
            try connection.run(readers)
        } catch  where error.code == "42P16" {
            try connection.run("rollback to savepoint views")
            // Views that are made of others come behind them.
            for view in views(in: readers).reversed() {
                try connection.run("drop view if exists \(view)")
            }
            try connection.run(readers)
        }
    }

    private func views(in readers: String) -> [String] {
        let prefix = "create or replace view "
        return readers.split(separator: "\n").filter { $0.hasPrefix(prefix) }.map {
            String($0.dropFirst(prefix.utf8.count).prefix { $0 != " " })
        }
    }

    private func exchange(
        _ build: Int, _ before: Int?, _ connection: Connection
    ) throws(Postgres.Failure) {
        if let before {
            try connection.executeOnce(
                """
                update urd.projection_build set status = 'previous'
                where projection = $1 and build = $2
                """, key(before))
        }
        try connection.executeOnce(
            """
            update urd.projection_build set status = 'live' where projection = $1 and build = $2
            """, key(build))
    }

    /// Append lets go of a build that is not shown any more, realm by realm. It is kept to go back to;
    /// those before it go, and tables that are still read go with a later run.
    func retire(_ kept: Int) throws {
        try Builds.detach(projection.name, kept, connection)
        let older = try connection.executeOnce(
            """
            select build from urd.projection_build
            where projection = $1 and status = 'previous' and build <> $2
            """, key(kept))
        for row in 0..<older.count {
            try Builds.drop(projection.name, Int(older.int32(row, 0)), connection)
        }
    }
}
