import API
import JSON
import Values

/// What a caller wants to see of a list: its form, its columns, and how much of it.
struct RouteList {
    static let wide = Option.flag("wide", "Show every column, and every cell whole")
    static let columns = Option.value("columns", "a,b", "Show these columns, and their cells whole")
    static let all = Option.flag("all", "Go on, page after page, until the list ends")
    static let open = Option.flag(
        "open", "Show personal fields, too; that they were shown is on record")
    static let reason = Option.value("reason", "text", "Why they are shown; it is kept in the log")

    private let operation: Operation
    private let call: Invocation
    private let chosen: [String]?
    private let isOpen: Bool

    init(_ call: Invocation, of command: RouteCommand) throws(UsageError) {
        self.call = call
        operation = command.operation
        isOpen = command.opensItems && call.arguments.has("open")
        let hasColumns = command.isTable && call.arguments.value("columns") != nil
        if command.isPaged, call.arguments.has("json"), call.arguments.has("csv") {
            throw UsageError("--json and --csv: the answer has one form")
        }
        if hasColumns, call.arguments.has("json") {
            throw UsageError("--columns and --json: JSON has every member")
        }
        chosen =
            hasColumns ? try Self.columns(call.arguments.value("columns") ?? "", operation) : nil
    }

    private static func columns(
        _ text: String, _ operation: Operation
    ) throws(UsageError) -> [String] {
        let known = operation.columns + (operation.id == "listAccounts" ? person : [])
        var names: [String] = []
        for part in text.split(separator: ",") {
            let name = String(part.filter { $0 != " " })
            guard known.contains(name) else {
                throw UsageError(
                    "--columns: there is no '\(name)'" + NearestName.hint(for: name, among: known)
                        + "; the columns are \(known.joined(separator: ", "))")
            }
            names.append(name)
        }
        if names.isEmpty {
            throw UsageError("--columns is empty; the columns are \(known.joined(separator: ", "))")
        }
        return names
    }

    // MARK: - Reading

    /// Members of an account's person, once they are opened.
    private static let person = ["email", "phone", "first_name", "last_name", "external_id"]

    /// The whole list where it was asked for, with its items opened where that was.
    func complete(
        _ first: JSON, _ values: JSONObject, _ requests: AdminRequests
    ) async throws -> JSON {
        guard var members = first.object, var items = first["items"]?.array else { return first }
        var last = first
        var next = first.nextPage
        if operation.inputs.contains(where: { $0.name == "after" }), call.arguments.has("all") {
            var asked = values
            while let after = next {
                asked["after"] = .string(after)
                let page = try AdminRequests.answer(
                    await requests.response(of: operation, asked))
                items += page["items"]?.array ?? []
                (last, next) = (page, page.nextPage)
            }
            // Lists of the log go on behind their end.
            members["next"] = last["next"]
            if members["more"] != nil { members["more"] = false }
        }
        if isOpen {
            for index in items.indices {
                guard let id = items[index]["id"] else { continue }
                var asked = values.filter { name, _ in name == "realm" }
                asked["account_id"] = id
                asked["open"] = true
                asked["reason"] = call.arguments.value("reason").map { .string($0) }
                items[index] = try await requests.read("getAccount", asked)
            }
        }
        members["items"] = .array(items)
        return .object(members)
    }

    // MARK: - Showing

    func show(_ answer: JSON) {
        let items = (answer["items"]?.array ?? []).map(isOpen ? Self.flat : { $0 })
        let isCSV = operation.inputs.contains { $0.name == "after" } && call.arguments.has("csv")
        if isCSV {
            let whole = isOpen ? operation.columns.filter { $0 != "person" } + Self.person : nil
            call.console.write(CSV(listing: items, columns: chosen ?? whole ?? operation.columns))
        } else {
            call.console.write(table(items))
        }
        // It is said beside the rows, or programs would read it as one.
        for line in [answer.lag, answer.nextPage.map { "More: --after \($0)" }] {
            guard let line else { continue }
            if isCSV { call.console.complain(line) } else { call.console.write(line) }
        }
    }

    private func table(_ items: [JSON]) -> String {
        if let chosen { return Table(listing: items, columns: chosen, isWhole: true).render() }
        if call.arguments.has("wide") {
            let columns = operation.columns + (isOpen ? Self.person : [])
            return Table(listing: items, columns: columns, isWhole: true).render()
        }
        let named = ListColumns.defaults[operation.id]
        return Table(
            listing: items, columns: named ?? operation.columns, hasFlat: named != nil
        ).render(width: Table.width)
    }

    /// An account with its person's members beside its own.
    private static func flat(_ item: JSON) -> JSON {
        guard var members = item.object, let person = item["person"]?.object else { return item }
        _ = members.removeValue(forKey: "person")
        return .object(members.merging(person) { $1 })
    }
}

extension JSON {
    /// How far a list is that is behind the log.
    var lag: String? {
        guard let position = self["position"]?.integer, let head = self["head"]?.integer,
            position < head
        else { return nil }
        return "As of position \(position) of \(head): what happened since is not in it yet"
    }

    /// Where the next page begins, if there is one now.
    var nextPage: String? { self["more"] == true ? self["next"]?.string : nil }
}

extension Table {
    /// One thing: a row for each member.
    init(of value: JSON) {
        self.init("name", "value")
        for (name, member) in (value.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            add([name, Self.cell(member)])
        }
    }

    /// Many things: those of their columns that any of them has. A whole table has deep members, too, and
    /// times with their fractions.
    /// - Parameter hasFlat: whether objects without parts of parts are shown, too.
    init(
        listing items: [JSON], columns: [String], isWhole: Bool = false, hasFlat: Bool = false
    ) {
        let shown = columns.filter { name in
            let values = items.compactMap { $0[name] }
            return values.contains { $0 != .null }
                && (isWhole
                    || !values.contains { Self.isDeep($0) && !(hasFlat && Self.flat($0) != nil) })
        }
        self.init(titles: shown, overflow: .shorten)
        for item in items {
            add(
                shown.map { name in
                    if !isWhole, let flat = Self.flat(item[name] ?? .null) { return flat }
                    let text = Self.cell(item[name] ?? .null)
                    return isWhole ? text : Self.shortTime(text)
                })
        }
    }

    private static func isDeep(_ value: JSON) -> Bool {
        switch value {
        case .object: true
        case .array(let elements): elements.contains { isDeep($0) }
        case .null, .bool, .integer, .string: false
        }
    }

    /// `failures 10, window 1800`
    private static func flat(_ value: JSON) -> String? {
        guard let members = value.object, !members.values.contains(where: isDeep) else {
            return nil
        }
        return members.sorted { $0.key < $1.key }.map { "\($0.key) \(cell($0.value))" }
            .joined(separator: ", ")
    }

    static func cell(_ value: JSON) -> String {
        switch value {
        case .null: "-"
        case .string(let text): text
        case .array(let elements): elements.map(cell).joined(separator: " ")
        case .bool, .integer, .object: String(decoding: value.canonical(), as: UTF8.self)
        }
    }

    /// `2026-11-22T01:23:45.123456Z` to the second, in the same zone: UTC.
    private static func shortTime(_ text: String) -> String {
        guard text.utf8.count == 27, text.hasSuffix("Z"), Timestamp(rfc3339: text) != nil else {
            return text
        }
        return text.prefix(10) + " " + text.dropFirst(11).prefix(8)
    }
}
