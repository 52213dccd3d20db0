import EventSourcing
import JSON
import Postgres
import Values

extension Parameters {
    /// What one row, or the rows of one thing, are found by.
    init(in realm: RealmID, _ id: UUID) {
        self.init(realm: realm.name)
        add(id)
    }

    init(in realm: RealmID, _ name: String) {
        self.init(realm: realm.name)
        add(name)
    }

    /// A page of what stands in the order of ids.
    init(in realm: RealmID, after: UUID?, limit: Int) {
        self.init(realm: realm.name)
        add(after ?? .zero)
        add(Int64(limit))
    }

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
    func object(_ row: Int, _ column: Int) -> JSONObject? {
        (try? JSON.parse(bytes(row, column)))?.object
    }
}
