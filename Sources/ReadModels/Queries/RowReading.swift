import JSON
import Postgres
import Values

extension Parameters {
    init(realm: String) {
        self.init()
        add(realm)
    }

    mutating func add(_ value: UUID?) {
        add(uuid: value.map { ($0.high, $0.low) })
    }
}

extension Rows {
    func identifier(_ row: Int, _ column: Int) -> UUID {
        let (high, low) = uuid(row, column)
        return UUID(high: high, low: low)
    }

    func instant(_ row: Int, _ column: Int) -> Timestamp {
        Timestamp(microseconds: time(row, column))
    }

    func optionalText(_ row: Int, _ column: Int) -> String? {
        isNull(row, column) ? nil : text(row, column)
    }

    /// An object that a statement gives as text.
    func object(_ row: Int, _ column: Int) -> [String: JSON]? {
        (try? JSON.parse(bytes(row, column)))?.object
    }
}
