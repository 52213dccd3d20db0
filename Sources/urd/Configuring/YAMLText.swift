import JSON
import Values

/// A value as YAML, as a person would write it.
enum YAMLText {
    static func of(_ value: JSON) -> String {
        var lines: [String] = []
        add(value, to: &lines, indentation: "")
        return lines.joined(separator: "\n")
    }

    private static func add(_ value: JSON, to lines: inout [String], indentation: String) {
        switch value {
        case .object(let members) where !members.isEmpty:
            for (name, member) in members {
                add(member, behind: "\(indentation)\(scalar(name)):", to: &lines, indentation)
            }
        case .array(let elements) where !elements.isEmpty:
            for element in elements {
                lines.append("\(indentation)- \(inline(element))")
            }
        case .null, .bool, .integer, .string, .array, .object:
            lines.append("\(indentation)\(inline(value))")
        }
    }

    private static func add(
        _ value: JSON, behind name: String, to lines: inout [String], _ indentation: String
    ) {
        if value.object?.isEmpty == false || value.array?.isEmpty == false {
            lines.append(name)
            add(value, to: &lines, indentation: indentation + "  ")
        } else {
            lines.append("\(name) \(inline(value))")
        }
    }

    /// On one line: what stands in a list stands as JSON, which is YAML too.
    private static func inline(_ value: JSON) -> String {
        if let text = value.string { return scalar(text) }
        return String(decoding: value.canonical(), as: UTF8.self)
    }

    /// A text without quotes where it can only be a text.
    static func scalar(_ text: String) -> String {
        let isWord = text.utf8.allSatisfy { byte in
            byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte &- 0x30 < 10
                || "_-./:".utf8.contains(byte)
        }
        let first = text.utf8.first.map { $0 | 0x20 } ?? 0
        let isPlain =
            isWord && (0x61...0x7A).contains(first) && !text.hasSuffix(":")
            && !["null", "true", "false", "yes", "no", "on", "off", "y", "n"].contains(
                text.lowercased())
        return isPlain ? text : String(decoding: JSON.string(text).canonical(), as: UTF8.self)
    }
}
