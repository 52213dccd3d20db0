/// The accounts in one JSON document, which may be gigabytes: it is walked byte by byte, and one account at a time is
/// kept.
final class ElementReader: RecordReader {
    /// A step from a value to one within it.
    enum Step: Equatable {
        case member(String)
        case element
    }

    private enum Container {
        /// With the name of the member whose value is read.
        case object(name: String?)
        case array
    }

    private let source: RecordSource
    /// The ways from the document to an account.
    private let paths: [[Step]]
    private var open: [Container] = []
    private var line = 1
    private var hasBegun = false
    private static let deepest = 64

    init(_ source: RecordSource, paths: [[Step]]) {
        self.source = source
        self.paths = paths
    }

    func next() throws(CommandFailure) -> ExportedRecord? {
        while let byte = try skipWhitespace() {
            guard !open.isEmpty || !hasBegun else {
                throw broken("there is something behind its end")
            }
            hasBegun = true
            switch byte {
            case UInt8(ascii: "}"), UInt8(ascii: "]"): try leave(byte)
            case UInt8(ascii: ","), UInt8(ascii: ":"): _ = try source.next()
            case UInt8(ascii: "\"") where isAtName: try readName()
            default:
                if paths.contains(where: isHere) { return try readAccount(byte) }
                try enterOrSkip(byte)
            }
        }
        guard open.isEmpty, hasBegun else { throw broken("it ends in the middle") }
        return nil
    }

    private func isHere(_ path: [Step]) -> Bool {
        path.count == open.count
            && zip(path, open).allSatisfy { step, container in
                switch (step, container) {
                case (.member(let name), .object(let own)): name == own
                case (.element, .array): true
                case (.member, .array), (.element, .object): false
                }
            }
    }

    private var isAtName: Bool {
        if case .object(nil)? = open.last { true } else { false }
    }

    private func readName() throws(CommandFailure) {
        var name: [UInt8] = []
        try readText { if name.count < 256 { name.append($0) } }
        open[open.count - 1] = .object(
            name: String(decoding: name.dropFirst().dropLast(), as: UTF8.self))
    }

    private func enterOrSkip(_ byte: UInt8) throws(CommandFailure) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            _ = try source.next()
            open.append(byte == UInt8(ascii: "{") ? .object(name: nil) : .array)
            if open.count > Self.deepest { throw broken("it is nested too deep") }
        case UInt8(ascii: "\""):
            try readText { _ in }
            endValue()
        default:
            try readWord { _ in }
            endValue()
        }
    }

    private func leave(_ byte: UInt8) throws(CommandFailure) {
        _ = try source.next()
        switch (open.popLast(), byte) {
        case (.object?, UInt8(ascii: "}")), (.array?, UInt8(ascii: "]")): endValue()
        default: throw broken("a bracket is closed that is not open")
        }
    }

    /// Of a member: another name comes next.
    private func endValue() {
        if case .object? = open.last { open[open.count - 1] = .object(name: nil) }
    }

    private func readAccount(_ byte: UInt8) throws(CommandFailure) -> ExportedRecord {
        let first = line
        var bytes: [UInt8] = []
        var count = 0
        let keep: (UInt8) -> Void = { byte in
            count += 1
            if count <= RecordSource.longestRecord { bytes.append(byte) }
        }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): try readWhole(keep)
        case UInt8(ascii: "\""): try readText(keep)
        default: try readWord(keep)
        }
        endValue()
        return ExportedRecord(
            line: first,
            content: count > RecordSource.longestRecord ? .failure(.tooLong) : .success(bytes))
    }

    /// An object or an array with all that is in it.
    private func readWhole(_ keep: (UInt8) -> Void) throws(CommandFailure) {
        var depth = 0
        while let byte = try source.peek() {
            if byte == UInt8(ascii: "\"") {
                try readText(keep)
                continue
            }
            _ = try source.next()
            keep(byte)
            switch byte {
            case 0x0A: line += 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return }
            default: break
            }
        }
        throw broken("it ends in the middle")
    }

    /// A text, from one quotation mark to the other.
    private func readText(_ keep: (UInt8) -> Void) throws(CommandFailure) {
        var isEscaped = false
        var isFirst = true
        while let byte = try source.next() {
            keep(byte)
            if byte == 0x0A { line += 1 }
            if byte == UInt8(ascii: "\""), !isEscaped, !isFirst { return }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            isFirst = false
        }
        throw broken("it ends in the middle of a text")
    }

    /// A number, true, false or null.
    private func readWord(_ keep: (UInt8) -> Void) throws(CommandFailure) {
        var length = 0
        while let byte = try source.peek() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "+"),
                UInt8(ascii: "."):
                _ = try source.next()
                keep(byte)
                length += 1
            default:
                guard length > 0 else { throw broken("it is no JSON") }
                return
            }
        }
        guard length > 0 else { throw broken("it is no JSON") }
    }

    private func skipWhitespace() throws(CommandFailure) -> UInt8? {
        while let byte = try source.peek() {
            guard byte == 0x20 || (0x09...0x0D).contains(byte) else { return byte }
            if byte == 0x0A { line += 1 }
            _ = try source.next()
        }
        return nil
    }

    private func broken(_ why: String) -> CommandFailure {
        CommandFailure(
            "\(source.name) is not the JSON of an export: \(why), in line \(line)",
            remedy: "Export it again. What stands before that line has been read.")
    }
}
