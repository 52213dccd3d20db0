internal import JSON

/// The parts that a filter's text is made of, with the place of each.
struct FilterToken: Equatable {
    enum Kind: Equatable {
        case word(String)
        case text(String)
        case number(Int64)
        case opening
        case closing
        case listOpening
        case listClosing
        case comma
        case end
    }

    let kind: Kind
    let place: Int
}

struct FilterScanner {
    private let bytes: [UInt8]
    private var next = 0
    /// Unicode scalars before `next`.
    private var place = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    static func tokens(of text: String) throws(FilterFault) -> [FilterToken] {
        var scanner = FilterScanner(text)
        var tokens: [FilterToken] = []
        repeat { tokens.append(try scanner.token()) } while tokens.last?.kind != .end
        return tokens
    }

    private mutating func advance(to end: Int) {
        // All bytes but those that go on with a scalar begin one.
        place += bytes[next..<end].count(where: { $0 & 0xC0 != 0x80 })
        next = end
    }

    private mutating func token() throws(FilterFault) -> FilterToken {
        while next < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[next]) {
            advance(to: next + 1)
        }
        let start = place
        guard next < bytes.count else { return FilterToken(kind: .end, place: start) }
        let byte = bytes[next]
        if let kind = Self.marks[byte] {
            advance(to: next + 1)
            return FilterToken(kind: kind, place: start)
        }
        if byte == UInt8(ascii: "\"") {
            return FilterToken(kind: .text(try text()), place: start)
        }
        if Self.isLetter(byte) {
            let end = self.end {
                Self.isLetter($0) || Self.isDigit($0) || "-_.:$".utf8.contains($0)
            }
            let word = String(decoding: bytes[next..<end], as: UTF8.self)
            advance(to: end)
            return FilterToken(kind: .word(word), place: start)
        }
        if byte == UInt8(ascii: "-") || Self.isDigit(byte) {
            return FilterToken(kind: .number(try number()), place: start)
        }
        throw FilterFault(at: start, expected: "an attribute, an operator or a value")
    }

    private static let marks: [UInt8: FilterToken.Kind] = [
        UInt8(ascii: "("): .opening, UInt8(ascii: ")"): .closing,
        UInt8(ascii: "["): .listOpening, UInt8(ascii: "]"): .listClosing,
        UInt8(ascii: ","): .comma,
    ]

    /// A string of JSON, which the database can hold.
    private mutating func text() throws(FilterFault) -> String {
        var end = next + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < bytes.count,
            let text = (try? JSON.parse(Array(bytes[next...end])))?.string,
            !text.utf8.contains(0)
        else {
            throw FilterFault(at: place, expected: "a text in quotes, written as in JSON")
        }
        advance(to: end + 1)
        return text
    }

    private mutating func number() throws(FilterFault) -> Int64 {
        let end = self.end { Self.isLetter($0) || Self.isDigit($0) || "-+.".utf8.contains($0) }
        guard case .integer(let number)? = try? JSON.parse(Array(bytes[next..<end])) else {
            throw FilterFault(at: place, expected: "a whole number")
        }
        advance(to: end)
        return number
    }

    private func end(where goesOn: (UInt8) -> Bool) -> Int {
        var end = next + 1
        while end < bytes.count, goesOn(bytes[end]) { end += 1 }
        return end
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
