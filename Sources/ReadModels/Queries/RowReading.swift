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

    init(in realm: RealmID, _ name: String, _ detail: String) {
        self.init(in: realm, name)
        add(detail)
    }

    /// Rows of many ids at once.
    init(in realm: RealmID, any ids: [UUID]) {
        self.init(realm: realm.name)
        var array = ArrayParameter(of: .uuid)
        for id in ids { array.append(uuid: (id.high, id.low)) }
        add(array)
    }

    init(in realm: RealmID, any names: [String]) {
        self.init(realm: realm.name)
        var array = ArrayParameter(of: .text)
        for name in names { array.append(name) }
        add(array)
    }

    /// A page of what stands in the order of ids.
    init(in realm: RealmID, after: UUID?, limit: Int) {
        self.init(realm: realm.name)
        add(after ?? .zero)
        add(Int64(limit))
    }

    init(in realm: RealmID, _ page: PageOfAccount) {
        self.init(in: realm, page.account)
        add(page.after ?? UUID(high: .max, low: .max))
        add(Int64(page.limit))
        add(page.now.seconds)
    }

    /// A page with a limit, behind skipped rows.
    init(in realm: RealmID, behind skipped: Int, limit: Int) {
        self.init(realm: realm.name)
        add(Int64(skipped))
        add(Int64(limit))
    }

    /// What is to be done by a time, in all realms.
    init(until time: Timestamp, limit: Int) {
        self.init()
        add(time: time.microseconds)
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

    func optionalIdentifier(_ row: Int, _ column: Int) -> UUID? {
        isNull(row, column) ? nil : identifier(row, column)
    }

    func instant(_ row: Int, _ column: Int) -> Timestamp {
        Timestamp(microseconds: time(row, column))
    }

    func optionalInstant(_ row: Int, _ column: Int) -> Timestamp? {
        isNull(row, column) ? nil : instant(row, column)
    }

    func integer(_ row: Int, _ column: Int) -> Int { Int(int32(row, column)) }

    func optionalInteger(_ row: Int, _ column: Int) -> Int? {
        isNull(row, column) ? nil : integer(row, column)
    }

    func optionalText(_ row: Int, _ column: Int) -> String? {
        isNull(row, column) ? nil : text(row, column)
    }

    /// An object that a statement gives as text.
    func object(_ row: Int, _ column: Int) -> JSONObject? {
        (try? JSON.parse(bytes(row, column)))?.object
    }

    func list(_ row: Int, _ column: Int) -> [String]? {
        (try? JSON.parse(bytes(row, column)))?.array?.compactMap(\.string)
    }

    /// What the log says of a thing, and the account that it is of, which has a column of its own.
    func terms(_ row: Int, account: Int, _ column: Int) -> JSONObject? {
        var fields = object(row, column)
        if let account = optionalIdentifier(row, account) {
            fields?["account"] = .string(account.description)
        }
        return fields
    }
}
