internal import JSON
internal import Values

/// Looks at a realm's configuration without a look at the realm: all that is wrong with it, and the nearest name of what is unknown.
struct ConfigurationCheck {
    private(set) var faults: [ConfigurationFault] = []

    init(_ configuration: JSONObject) {
        for (name, value) in configuration {
            guard let kind = ConfigurationCatalogue.kinds.first(where: { $0.name == name }) else {
                addUnknown(name, among: ConfigurationCatalogue.kinds.map(\.name), at: name)
                continue
            }
            check(value, of: kind)
        }
    }

    private mutating func check(_ value: JSON, of kind: ConfigurationKind) {
        switch kind.form {
        case .single: check(value, kind.fileMembers, kind.secrets, at: kind.name)
        case .names:
            guard let names = value.array else { return add(kind.name, "must be a list") }
            if let again = firstRepeated(names) {
                add("\(kind.name)/\(again)", "stands in the list twice")
            }
            for (index, name) in names.enumerated() {
                check(name, kind.keySchema, at: "\(kind.name)/\(index)")
            }
        case .things:
            guard let things = value.object else {
                return add(kind.name, "must have each \(kind.noun) under its name")
            }
            for (name, thing) in things {
                let path = "\(kind.name)/\(name)"
                check(.string(name), kind.keySchema, at: path)
                check(thing, kind.fileMembers, kind.secrets, at: path)
            }
        }
    }

    private func firstRepeated(_ names: [JSON]) -> Int? {
        var seen: Set<JSON> = []
        return names.firstIndex { !seen.insert($0).inserted }
    }

    private mutating func check(
        _ value: JSON, _ members: [Member], _ secrets: Set<String>, at path: String
    ) {
        guard let object = value.object else { return add(path, "must have members") }
        for (name, inner) in object {
            let place = "\(path)/\(name)"
            guard let member = members.first(where: { $0.name == name }) else {
                addUnknown(name, among: members.map(\.name), at: place)
                continue
            }
            if secrets.contains(name), !member.schema.takes(inner) {
                faults.append(
                    ConfigurationFault(
                        path: place, what: "the secret `\(name)` is written in the clear",
                        hint: "keep it in the environment or in a file, and write "
                            + "`\(name): env:NAME` or `\(name): file:/path` here"))
            } else {
                check(inner, member.schema, at: place)
            }
        }
        for member in members where member.isRequired && object[member.name] == nil {
            faults.append(
                ConfigurationFault(path: path, what: "the member `\(member.name)` is missing"))
        }
    }

    private mutating func check(_ value: JSON, _ schema: Schema, at path: String) {
        switch schema {
        case .named(_, let inner): check(value, inner, at: path)
        case .nullable(let inner): if value != .null { check(value, inner, at: path) }
        case .object(let rule): check(value, rule.members, [], at: path)
        case .map(let inner):
            guard let object = value.object else { return add(path, "must have members") }
            for (name, element) in object { check(element, inner, at: "\(path)/\(name)") }
        case .text, .integer, .boolean, .list, .openObject, .judged, .anything:
            do throws(SchemaViolation) {
                try schema.check(value, field: path)
            } catch {
                add(error, value)
            }
        }
    }

    private mutating func add(_ violation: SchemaViolation, _ value: JSON) {
        guard case .malformed(let sentence) = violation.reason else {
            return add(violation.field, "is not known here")
        }
        let needsQuotes = sentence == "must be a string" && value.array == nil && value != .null
        add(violation.field, sentence, hint: needsQuotes ? "put it in quotes" : "")
    }

    private mutating func add(_ path: String, _ sentence: String, hint: String = "") {
        faults.append(
            ConfigurationFault(path: path, what: "`\(Self.last(path))` \(sentence)", hint: hint))
    }

    private mutating func addUnknown(_ name: String, among known: [String], at path: String) {
        let nearest = NearestName.find(name, among: known)
        let what = "unknown member `\(name)`"
        let hint = nearest.map { "did you mean `\($0)`?" } ?? Self.hint(for: name)
        faults.append(ConfigurationFault(path: path, what: what, hint: hint))
    }

    private static func hint(for name: String) -> String {
        ["accounts", "users", "people", "invites", "sessions"].contains(name)
            ? "people and their data are in no configuration" : ""
    }

    /// The name at the end of a path; of an element of a list also the list's.
    private static func last(_ path: String) -> String {
        let parts = path.split(separator: "/", maxSplits: 2).map(String.init)
        return parts.last ?? path
    }
}

extension Schema {
    fileprivate func takes(_ value: JSON) -> Bool { (try? check(value)) != nil }
}
