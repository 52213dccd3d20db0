public import EventSourcing
import Postgres
import Values

/// Why a read model gave no answer.
public enum ReadFailure: Error, Equatable, Sendable {
    /// It is not at the end of the log, and the question must not be answered from the past.
    case behind
    /// The queue of queries is full: retry soon.
    case busy
    /// The database cannot be reached or failed.
    case unavailable
    /// The row cannot be one that a projection wrote.
    case damaged

    /// The same in the words of the log: a model that is behind is not available.
    public var asLogFailure: LogFailure {
        switch self {
        case .busy: .busy
        case .behind, .unavailable: .unavailable
        case .damaged: .damaged
        }
    }
}

/// Asks a read model for many keys at once.
typealias LookUp<Key: Hashable & Sendable, Value: Sendable> = QueryCoalescing<
    RealmID, Key, Value, Connection, ReadFailure
>

extension QueryCoalescing where Source == Connection, Fault == ReadFailure {
    convenience init(_ database: Database, atOnce: Int = 1, ask: @escaping Ask) {
        self.init(
            database, atOnce: atOnce, busy: .busy, unavailable: .unavailable, damaged: .damaged,
            ask: ask)
    }
}

extension Database {
    /// Asks a read model.
    func read<Value: Sendable>(
        _ work:
            @escaping @Sendable (Connection) throws(Postgres.Failure) -> Result<Value, ReadFailure>
    ) async throws(ReadFailure) -> Value {
        let result: Result<Value, ReadFailure>
        do {
            result = try await run(work)
        } catch is Database.Busy {
            throw .busy
        } catch {
            throw (error as? Postgres.Failure)?.damage == nil ? .unavailable : .damaged
        }
        return try result.get()
    }

    /// The rows of a model that follows the log; those that can't be read are left out.
    func rows<Row: Sendable>(
        _ statement: Statement, _ parameters: Parameters,
        _ row: @escaping @Sendable (Rows, Int) -> Row?
    ) async throws(ReadFailure) -> [Row] {
        try await read { connection throws(Postgres.Failure) in
            let rows = try connection.execute(statement, parameters)
            return .success((0..<rows.count).compactMap { row(rows, $0) })
        }
    }
}
