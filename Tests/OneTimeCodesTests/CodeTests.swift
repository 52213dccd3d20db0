import Testing

@testable import OneTimeCodes

/// Gives these numbers, and then counts up.
private struct Scripted: RandomNumberGenerator {
    var numbers: [UInt64]
    var last: UInt64 = 0

    mutating func next() -> UInt64 {
        if !numbers.isEmpty { return numbers.removeFirst() }
        last += 1
        return last
    }
}

@Suite struct `Recovery codes` {
    @Test func `recovery codes are ten distinct codes of sixty bits that read back`() throws {
        let codes = RecoveryCode.generateSet()
        #expect(Set(codes).count == 10)
        for code in codes {
            #expect(code.plain.utf8.count == 12)
            #expect(code.text.utf8.count == 14)
            #expect(code.text.split(separator: "-").map(\.utf8.count) == [4, 4, 4])
            #expect(RecoveryCode(typed: code.text) == code)
            #expect(RecoveryCode(typed: code.plain) == code)
            #expect(RecoveryCode(typed: code.text.lowercased()) == code)
        }
    }

    @Test func `recovery codes are distinct within a set`() {
        var random = Scripted(numbers: [5, 5, 5, 6, 5])
        #expect(Set(RecoveryCode.generateSet(using: &random)).count == 10)
    }

    @Test func `recovery codes use every sign of their alphabet`() {
        let signs = Set(
            (0..<40).flatMap { _ in RecoveryCode.generateSet().flatMap { Array($0.plain) } })
        #expect(String(signs.sorted()) == "0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    }

    @Test(arguments: [
        "0123-4567-89AB", "0123456789ab", " 0123 4567 89AB ", "oL23–4567—89aB",
        "O123\u{00A0}4567\u{2011}89AB",
        "oi23.4567.89ab".replacing(".", with: "\u{2212}"), "0 1 2 3 4 5 6 7 8 9 A B\n",
        "0l23 4567 89aB",
    ])
    func `recovery codes are read in any case and spacing`(input: String) {
        #expect(RecoveryCode(typed: input)?.plain == "0123456789AB")
    }

    @Test(arguments: [
        "", "-", "0123-4567-89A", "0123-4567-89ABC", "0123-4567-89AU", "0123-4567-89A!",
        "０123-4567-89AB",
        "0123-4567-89AЕ", "0123_4567_89AB", "0123\u{0}456789AB",
        String(repeating: "-", count: 1000) + "0123456789AB",
        String(repeating: "A", count: 100_000),
    ])
    func `malformed recovery codes are refused`(input: String) {
        #expect(RecoveryCode(typed: input) == nil)
    }
}
