import Postgres
import Threads

extension BuildRun {
    /// Brings a build up to the log in every realm, while writers go on.
    func catchUp(_ build: Int, mayHalt: Bool) throws {
        // Realms may have been born while the build was registered.
        try connection.run("select urd.enroll()")
        let rows = try connection.executeOnce(
            """
            select p.realm from urd.projection_position p
            where p.projection = $1 and p.build = $2 and not p.attached
            """, key(build))
        for row in 0..<rows.count {
            try catchUp(rows.text(row, 0), build, mayHalt)
        }
    }

    private func catchUp(_ realm: String, _ build: Int, _ mayHalt: Bool) throws {
        for _ in 0..<10_000 {
            let step = try Step.project(
                realm, projection.name, build, page: 50_000, connection)
            if let halted = step?.halted {
                if mayHalt { return }
                throw ProjectionFailure.halted(
                    projection.name, realm: realm, position: halted.position, why: halted.why)
            }
            switch projection.kind {
            case .following:
                // The last few are left to its driver once it is live.
                if let step, step.head - step.position < 1000 { return }
            case .inline:
                if let step, step.head - step.position > 500 { continue }
                if try Step.attach(realm, projection.name, build, connection) { return }
                if try isAttached(realm, build) { return }
            }
            if step == nil { DedicatedThread.sleep(milliseconds: 5) }
        }
        throw ProjectionFailure.notCaughtUp(projection.name)
    }

    private func isAttached(_ realm: String, _ build: Int) throws(Postgres.Failure) -> Bool {
        var parameters = key(build)
        parameters.add(realm)
        let rows = try connection.executeOnce(
            """
            select p.attached from urd.projection_position p
            where p.projection = $1 and p.build = $2 and p.realm = $3
            """, parameters)
        return !rows.isEmpty && rows.bool(0, 0)
    }
}
