internal import HTTP
internal import JSON
internal import Values

/// Reading the body that a route declares, and refusing all else.
extension Outline {
    func readBody(_ request: Request) throws(Problem) -> JSON {
        guard let body else {
            // The body of a GET may be ignored; elsewhere the sender would believe that it had been
            // read.
            guard method == .get || ignoresUnknown || request.body.isEmpty else {
                throw Problem(.unexpectedBody)
            }
            return .null
        }
        // Nothing at all says as much as a body without members, where none is needed.
        if mayBeLeftOut(body), request.body.isEmpty { return [:] }
        let types = request.headers.all("Content-Type")
        guard
            isOfType(body.format, types) || body.format == .jsonAPI && isOfType(.json, types)
        else {
            var problem = Problem(.unsupportedMediaType, "Send it as \(body.format.rawValue).")
            problem.headers.append(("Accept", body.format.rawValue))
            throw problem
        }
        guard request.body.count <= body.maximumBytes else {
            throw Problem(.bodyTooLarge, "At most \(body.maximumBytes) bytes are read here.")
        }
        let value: JSON
        switch body.format {
        case .json, .jsonAPI: value = try readJSON(request.body, body.schema)
        case .form: value = try readForm(request.body, body.schema)
        }
        do {
            try body.schema.check(value)
        } catch {
            throw Problem(error)
        }
        // Where a schema leaves open what is in a value.
        if body.format == .json,
            let field = value.object?.first(where: { $0.value.hasNullCharacter })?.key
        {
            throw Problem(.invalidField, "\(field) has a null character.", field: field)
        }
        return value
    }

    func mayBeLeftOut(_ body: Body) -> Bool {
        body.mayBeMissing || ignoresUnknown && body.format == .form && body.isOptional
    }

    private func readJSON(_ bytes: [UInt8], _ schema: Schema) throws(Problem) -> JSON {
        let value: JSON
        do {
            value = try JSON.parse(bytes)
        } catch {
            throw Problem(.malformedJSON, "\(error.description).")
        }
        if voice.reading.contains(.matchesWithoutCase) { return try schema.matched(value) }
        return ignoresUnknown ? schema.described(value) : value
    }

    /// The form as the object that the schema describes.
    private func readForm(_ bytes: [UInt8], _ schema: Schema) throws(Problem) -> JSON {
        guard case .object(let rule) = schema.resolved else { throw Problem(.internalError) }
        guard let pairs = Form.parse(bytes) else { throw Problem(.malformedForm) }
        var members: JSONObject = [:]
        // There are few, and a list of few is faster than any set.
        var given: [String] = []
        for (name, text) in pairs {
            guard let member = rule[name] else {
                if !ignoresUnknown { throw Problem(.unknownField, field: shortened(name)) }
                continue
            }
            // What is stored as text can't hold this anywhere.
            guard !text.hasNullCharacter else {
                throw Problem(.invalidField, "\(name) has a null character.", field: name)
            }
            if case .list(let element, _, _) = member.schema.resolved {
                if text.isEmpty { continue }
                let value = try element.value(of: text, name: name, otherwise: .invalidField)
                members[name] = .array((members[name]?.array ?? []) + [value])
                continue
            }
            // Also an empty one counts: it can't be told which of the two was meant.
            guard !given.contains(name) else {
                throw Problem(
                    .repeatedParameter, "\(name) is given more than once.", field: name)
            }
            given.append(name)
            if text.isEmpty { continue }
            members[name] = try member.schema.converted(
                text, name: name, otherwise: .invalidField)
        }
        return .object(members)
    }
}

extension JSON {
    /// Much of what is sent is kept by the database, which has it in no text.
    var hasNullCharacter: Bool {
        switch self {
        case .string(let text): text.hasNullCharacter
        case .array(let elements): elements.contains(where: \.hasNullCharacter)
        case .object(let members):
            members.contains { $0.key.hasNullCharacter || $0.value.hasNullCharacter }
        case .null, .bool, .integer: false
        }
    }
}

extension JSON.Limits {
    /// Of what others send without a schema.
    static let ofRequests = JSON.Limits(takesNull: false)
}

extension Schema {
    /// The value without the members that the schema does not have.
    fileprivate func described(_ value: JSON) -> JSON {
        switch self {
        case .named(_, let schema), .nullable(let schema): return schema.described(value)
        case .list(let element, _, _):
            return value.array.map { .array($0.map(element.described)) } ?? value
        case .object(let rule):
            guard let members = value.object else { return value }
            var known: JSONObject = [:]
            for (name, value) in members {
                if let member = rule[name] { known[name] = member.schema.described(value) }
            }
            return .object(known)
        case .text, .integer, .boolean, .openObject, .judged, .map, .anything: return value
        }
    }

    /// The value with its members under the names that the schema has for them, matched without
    /// case. Unknown members and nulls fall out; two that differ in case only are refused.
    fileprivate func matched(_ value: JSON, field: String = "") throws(Problem) -> JSON {
        switch self {
        case .named(_, let schema): return try schema.matched(value, field: field)
        case .nullable(let schema):
            return value.isNull ? value : try schema.matched(value, field: field)
        case .list(let element, _, _):
            guard let elements = value.array else { return value }
            var matched: [JSON] = []
            for value in elements { matched.append(try element.matched(value, field: field)) }
            return .array(matched)
        case .object(let rule):
            guard let members = value.object else { return value }
            return .object(try rule.matched(members))
        case .text:
            if let text = value.string, text.hasNullCharacter {
                throw Problem(.invalidField, "\(field) has a null character.", field: field)
            }
            return value
        case .integer, .boolean, .openObject, .judged, .map, .anything: return value
        }
    }
}

extension ObjectRule {
    fileprivate func matched(_ members: JSONObject) throws(Problem) -> JSONObject {
        var byName: [String: Member] = [:]
        for member in self.members { byName[lowercased(member.name)] = member }
        var matched: JSONObject = [:]
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard let member = byName[lowercased(name)] else { continue }
            guard matched[member.name] == nil else {
                throw Problem(
                    .invalidField, "\(member.name) is given more than once.", field: member.name)
            }
            matched[member.name] = try member.schema.matched(value, field: member.name)
        }
        return matched.filter { !$0.value.isNull }
    }
}

/// ASCII alone: no other letter may turn into one of a member's name.
private func lowercased(_ name: String) -> String {
    String(
        decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
}

/// The format's media type, with or without `charset=utf-8`, in any case, and once.
private func isOfType(_ format: Body.Format, _ types: [String]) -> Bool {
    guard types.count == 1, let type = types.first else { return false }
    if type == format.rawValue { return true }
    let parts = lowercased(type).utf8.split(
        separator: UInt8(ascii: ";"), omittingEmptySubsequences: true
    ).map { part in part.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } }
    guard let first = parts.first, first.elementsEqual(format.rawValue.utf8) else { return false }
    return parts.dropFirst().allSatisfy {
        $0.elementsEqual("charset=utf-8".utf8) || $0.elementsEqual(#"charset="utf-8""#.utf8)
    }
}
