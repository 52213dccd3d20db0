import EventSourcing
import Postgres
import Values

extension Parameters {
    mutating func add(_ value: UUID?) {
        add(uuid: value.map { ($0.high, $0.low) })
    }
}

extension ArrayParameter {
    mutating func append(_ value: UUID) {
        append(uuid: (value.high, value.low))
    }
}

extension Rows {
    func identifier(_ row: Int, _ column: Int) -> UUID {
        let (high, low) = uuid(row, column)
        return UUID(high: high, low: low)
    }

    func leaf(_ row: Int, _ column: Int) -> LeafHash? {
        withField(row, column) { LeafHash($0) }
    }
}

extension Database {
    /// Runs work and tells the log's own kind of failure.
    func tryRun<Value: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(Postgres.Failure) -> Value
    ) async throws(LogFailure) -> Value {
        do {
            return try await run(work)
        } catch is Database.Busy {
            throw .busy
        } catch {
            throw (error as? Postgres.Failure).map { LogFailure($0) } ?? .unavailable
        }
    }
}

extension LogFailure {
    /// What a failure of the database means to those who ask the log.
    init(_ failure: Postgres.Failure) {
        self = failure.damage != nil ? .damaged : failure.isDiskFull ? .full : .unavailable
    }
}
