import JSON
import LogTesting

@testable import API

extension Schema {
    /// A value that keeps to this schema.
    func sample(_ random: inout SeededRandom) -> JSON {
        switch self {
        case .text(let rule): return .string(rule.sample(&random))
        case .integer(let range): return .integer(Int64.random(in: range, using: &random))
        case .boolean: return .bool(Bool.random(using: &random))
        case .list(let element, let count, let unique):
            let most = min(count.upperBound, count.lowerBound + 2)
            let length = Int.random(in: count.lowerBound...most, using: &random)
            var elements: [JSON] = []
            // There may be fewer different ones than were wanted.
            for _ in 0..<(20 * length) where elements.count < length {
                let next = element.sample(&random)
                if !unique || !elements.contains(next) { elements.append(next) }
            }
            return .array(elements)
        case .object(let rule):
            var members: JSONObject = [:]
            for member in rule.members
            where member.isRequired || Bool.random(using: &random) {
                members[member.name] = member.schema.sample(&random)
            }
            return .object(members)
        case .openObject, .anything: return ["anything": true]
        case .map(let schema): return ["name": schema.sample(&random)]
        case .nullable(let schema):
            return Bool.random(using: &random) ? .null : schema.sample(&random)
        case .named(_, let schema), .judged(let schema): return schema.sample(&random)
        }
    }

    /// Values that this schema must refuse.
    var wrongValues: [JSON] {
        let others: [JSON] = [.null, true, 0, "", [], [:], [.null], "\u{0}", -1]
        switch self {
        case .text(let rule):
            var wrong = others.filter { $0.string == nil }
            wrong.append(.string(String(repeating: "a", count: rule.length.upperBound + 1)))
            if rule.length.lowerBound > 0 || !rule.values.isEmpty { wrong.append("") }
            if rule.pattern != nil || !rule.values.isEmpty { wrong.append("\u{0}") }
            return wrong
        case .integer(let range):
            var wrong = others.filter { $0.integer == nil }
            if range.upperBound < .max { wrong.append(.integer(range.upperBound + 1)) }
            if range.lowerBound > .min { wrong.append(.integer(range.lowerBound - 1)) }
            return wrong.filter { value in
                value.integer.map { JSON.exactIntegers.contains($0) } ?? true
            }
        case .boolean: return others.filter { $0.bool == nil }
        case .list(let element, let count, _):
            var wrong = others.filter { $0.array == nil }
            wrong += element.wrongValues.prefix(4).map { .array([$0]) }
            if count.upperBound < 1000 {
                wrong.append(.array(Array(repeating: .null, count: count.upperBound + 1)))
            }
            if count.lowerBound > 0 { wrong.append([]) }
            return wrong
        case .object(let rule):
            var wrong = others.filter { $0.object == nil } + [["no such member": 1]]
            for member in rule.members {
                wrong += member.schema.wrongValues.map { [member.name: $0] }
            }
            return wrong
        case .openObject, .judged, .map: return others.filter { $0.object == nil }
        case .nullable(let schema): return schema.wrongValues.filter { $0 != .null }
        case .named(_, let schema): return schema.wrongValues
        case .anything: return []
        }
    }
}

extension TextRule {
    func sample(_ random: inout SeededRandom) -> String {
        if let value = values.randomElement(using: &random) { return value }
        guard let pattern else {
            let most = min(length.upperBound, length.lowerBound + 8)
            let count = Int.random(in: length.lowerBound...most, using: &random)
            return String(repeating: "é", count: count)
        }
        while true {
            let text = pattern.sample(&random)
            if length.contains(text.unicodeScalars.count) { return text }
        }
    }
}

extension Pattern {
    func sample(_ random: inout SeededRandom) -> String {
        switch self {
        case .one(let characters): return characters.sample(&random)
        case .text(let text): return text
        case .sequence(let parts): return parts.map { $0.sample(&random) }.joined()
        case .either(let parts): return parts.randomElement(using: &random)?.sample(&random) ?? ""
        case .times(let part, let count):
            let most = min(count.upperBound, count.lowerBound + 3)
            let turns = Int.random(in: count.lowerBound...most, using: &random)
            return (0..<turns).map { _ in part.sample(&random) }.joined()
        case .said(_, let pattern): return pattern.sample(&random)
        }
    }
}

extension Characters {
    func sample(_ random: inout SeededRandom) -> String {
        if isNegated { return "é" }
        guard let range = ranges.randomElement(using: &random),
            let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random))
        else { return "" }
        return String(scalar)
    }
}
