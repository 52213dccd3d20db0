/// The names that a file declares for others: "Account", "reading()", "Problem(of:)" and ".actClaim".
///
/// Swift knows no layers within a module. Names are found by their declarations and references by the same name, so that
/// a name that is declared twice belongs to no folder. Of members, those that extensions add are looked at, by names of
/// several words.
enum DeclaredNames {
    private static let words = #"(?:@\w+(?:\([^)]*\))? |\w+(?:\(set\))? )*?"#
    private static let type = Pattern(
        "^\(words)(?:struct|class|enum|protocol|actor|typealias) (\\w+)")
    private static let function = Pattern("^\(words)func (\\w+)")
    private static let opening = Pattern("^\(words)extension ([\\w.]+)")
    private static let member = Pattern("^ +\(words)(?:func|let|var) `?(\\w+)")
    private static let initialiser = Pattern("^    \(words)init\\??(?:<[^>]*>)?\\((\\w+)[ :]")
    private static let cases = Pattern(#"^ +(?:indirect )?case (\w+)"#)

    static func of(_ file: SwiftFile) -> [String] {
        var found: [String] = []
        var extended: String?
        for line in file.code where !isPrivate(line) {
            if line.first?.isWhitespace == false {
                if line.hasPrefix("}") { continue }
                extended = opening.matches(in: line).first?[1]
                if extended != nil { continue }
                if let name = type.matches(in: line).first?[1] {
                    found.append(name)
                } else if let name = function.matches(in: line).first?[1] {
                    found.append("\(name)()")
                }
            } else if let extended, line.hasPrefix("    "), !line.hasPrefix("     ") {
                let type = extended.split(separator: ".").last ?? ""
                if let label = initialiser.matches(in: line).first?[1], label != "_" {
                    found.append("\(type)(\(label):)")
                } else if let name = member.matches(in: line).first?[1], isTelling(name) {
                    found.append(".\(name)")
                }
            }
        }
        return found
    }

    /// The names of all members of a file, wherever they stand.
    static func members(of file: SwiftFile) -> [String] {
        file.code.compactMap { line in
            guard line.first == " " else { return nil }
            return (member.matches(in: line).first ?? cases.matches(in: line).first)?[1]
        }
    }

    private static func isPrivate(_ line: String) -> Bool {
        line.contains("private ") || line.contains("private(")
    }

    /// Several words, and none that the language itself gives to types.
    private static func isTelling(_ name: String) -> Bool {
        name.contains(where: \.isUppercase) && name != "allCases"
    }
}

/// The names that a line of code may refer to, in the form of `DeclaredNames`.
enum UsedNames {
    static func of(_ line: String) -> [String] {
        var found: [String] = []
        let bytes = Array(line.utf8)
        var index = 0
        while index < bytes.count {
            guard isLetter(bytes[index]) else {
                index += 1
                continue
            }
            let start = index
            while index < bytes.count, isLetter(bytes[index]) || isDigit(bytes[index]) {
                index += 1
            }
            let name = String(decoding: bytes[start..<index], as: UTF8.self)
            let isMember = start > 0 && bytes[start - 1] == UInt8(ascii: ".")
            let isCalled = index < bytes.count && bytes[index] == UInt8(ascii: "(")
            if bytes[start] < UInt8(ascii: "a"), bytes[start] != UInt8(ascii: "_") {
                found.append(name)
                if isCalled, let label = label(bytes[(index + 1)...]) {
                    found.append("\(name)(\(label):)")
                }
            } else if isMember {
                found.append(".\(name)")
            } else if isCalled || bytes[index...].starts(with: [0x20, 0x7B]) {
                found.append("\(name)()")
            }
        }
        return found
    }

    private static func label(_ bytes: ArraySlice<UInt8>) -> String? {
        let word = bytes.prefix { isLetter($0) || isDigit($0) }
        guard !word.isEmpty, bytes.dropFirst(word.count).first == UInt8(ascii: ":") else {
            return nil
        }
        return String(decoding: word, as: UTF8.self)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
