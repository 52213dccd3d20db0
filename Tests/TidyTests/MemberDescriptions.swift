/// Descriptions of parameters, of members of bodies and answers, of settings and of the fields of events: the
/// sentence in a call (or a tuple) whose first argument is the member's name.
enum MemberDescriptions {
    struct Description: Equatable {
        let line: Int
        let name: String
        let text: String
    }

    static func findings(_ file: SwiftFile) -> [Finding] {
        descriptions(of: file).compactMap { description in
            guard !NounRules.hasNoun(description.text) else { return nil }
            return Finding(
                path: file.path, line: description.line,
                what: "The description of '\(description.name)' has no noun: \(description.text)",
                remedy: "Say what the value is, by the field's term, with its unit or form")
        }
    }

    static func descriptions(of file: SwiftFile) -> [Description] {
        var reader = Reader(file)
        reader.run()
        return reader.found
    }

    /// Goes through the brackets of a file; what stands in strings is blanked in its code.
    private struct Reader {
        private struct Frame {
            let line: Int
            var argument = 0
            var texts: [(argument: Int, text: String)] = []
        }

        private let code: [UInt8]
        private let literals: [SwiftFile.Literal]
        private(set) var found: [Description] = []

        init(_ file: SwiftFile) {
            code = Array(file.code.joined(separator: "\n").utf8)
            // Those within an interpolation stand before the literal around them.
            literals = file.literals.sorted { $0.start < $1.start }
        }

        mutating func run() {
            var frames: [Frame] = []
            var line = 1
            var next = 0
            for place in code.indices {
                if next < literals.count, literals[next].start == place {
                    if let last = frames.indices.last {
                        frames[last].texts.append((frames[last].argument, literals[next].text))
                    }
                    next += 1
                }
                switch code[place] {
                case 10: line += 1
                case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
                    frames.append(Frame(line: line))
                case UInt8(ascii: ")"):
                    if let frame = frames.popLast() { note(frame) }
                case UInt8(ascii: "]"), UInt8(ascii: "}"): _ = frames.popLast()
                case UInt8(ascii: ","):
                    if let last = frames.indices.last { frames[last].argument += 1 }
                default: break
                }
            }
        }

        private mutating func note(_ frame: Frame) {
            guard let name = frame.texts.first, name.argument == 0, isName(name.text) else {
                return
            }
            for argument in Set(frame.texts.dropFirst().map(\.argument)) where argument > 0 {
                let text = frame.texts.filter { $0.argument == argument }.map(\.text).joined()
                guard isSentence(text) else { continue }
                found.append(Description(line: frame.line, name: name.text, text: text))
            }
        }

        private func isName(_ text: String) -> Bool {
            !text.isEmpty
                && text.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"),
                        UInt8(ascii: "A")...UInt8(ascii: "Z"):
                        true
                    default: "_-.[]".utf8.contains(byte)
                    }
                }
        }

        /// "Seconds." or "Whether …": not a value such as "HS256".
        private func isSentence(_ text: String) -> Bool {
            guard let first = text.unicodeScalars.first, first.properties.isUppercase else {
                return false
            }
            return text.utf8.last == UInt8(ascii: ".") || text.utf8.contains(UInt8(ascii: " "))
        }
    }
}
