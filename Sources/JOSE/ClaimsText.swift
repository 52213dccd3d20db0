public import JSON

/// The payload of a token as JSON, where others write numbers with fractions.
///
/// RFC 7519 lets a NumericDate have them, and our JSON has integers only. So the reader is asked, and
/// where it stops at a fraction or an exponent, the number is replaced and the reader asked again: the
/// value of one of the instants by its whole seconds, towards zero, and any other number by a text, so
/// that a claim which means nothing here spoils no token. What is signed is never rewritten: this is a
/// copy for reading.
public enum ClaimsText {
    static let limits = JSON.Limits(depth: 16, size: 16 << 10, takesNull: false)
    private static let instants = ["exp", "nbf", "iat", "auth_time", "updated_at"]
    /// Each costs another reading.
    private static let mostFractions = 32

    /// Nil where it is no object.
    public static func parse(_ payload: [UInt8]) -> JSONObject? {
        var bytes = payload
        for _ in 0...mostFractions {
            do throws(JSONError) {
                return try JSON.parse(bytes, limits: limits).object
            } catch {
                guard error.reason == .notAnInteger,
                    let number = number(around: error.offset, in: bytes)
                else { return nil }
                let isInstant = isInstant(before: number.lowerBound, in: bytes)
                guard let value = isInstant ? wholeText(bytes[number]) : quoted(bytes[number])
                else { return nil }
                bytes.replaceSubrange(number, with: value)
            }
        }
        return nil
    }

    private static func wholeText(_ number: ArraySlice<UInt8>) -> [UInt8]? {
        wholeSeconds(number).map { Array(String($0).utf8) }
    }

    private static func quoted(_ number: ArraySlice<UInt8>) -> [UInt8]? {
        let quote = UInt8(ascii: "\"")
        return Parts(number) == nil ? nil : [quote] + number + [quote]
    }

    /// The reader stopped at the point or exponent; what stands before it are digits that it took.
    private static func number(around offset: Int, in bytes: [UInt8]) -> Range<Int>? {
        guard bytes.indices.contains(offset) else { return nil }
        let start = bytes[..<offset].lastIndex { !isOfNumber($0) }.map { $0 + 1 } ?? 0
        let end = bytes[offset...].firstIndex { !isOfNumber($0) } ?? bytes.endIndex
        return start..<end
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"),
            UInt8(ascii: "+"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Whether the value at `start` has the name of an instant. The reader has accepted all that
    /// comes before, so that a quotation mark before the colon ends a name.
    private static func isInstant(before start: Int, in bytes: [UInt8]) -> Bool {
        func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
        guard let colon = bytes[..<start].lastIndex(where: { !isSpace($0) }),
            bytes[colon] == UInt8(ascii: ":"),
            let quote = bytes[..<colon].lastIndex(where: { !isSpace($0) })
        else { return false }
        let before = bytes[...quote]
        return instants.contains { name in
            let quoted = Array("\"\(name)\"".utf8)
            // A quotation mark that is escaped is part of a longer name.
            return before.suffix(quoted.count).elementsEqual(quoted)
                && before.dropLast(quoted.count).last != UInt8(ascii: "\\")
        }
    }

    /// What stands between the sign, the point and the exponent of a number.
    private struct Parts {
        var isNegative = false
        var whole: ArraySlice<UInt8>
        var fraction: ArraySlice<UInt8> = []
        var exponent = 0

        /// `-?digits[.digits][e[+-]digits]`; nil when it is no such number. A number that the JSON parser refuses,
        /// such as one with a leading zero, is refused before.
        init?(_ text: ArraySlice<UInt8>) {
            var rest = text
            isNegative = rest.first == UInt8(ascii: "-")
            if isNegative { rest = rest.dropFirst() }
            whole = digits(&rest)
            guard !whole.isEmpty else { return nil }
            if rest.first == UInt8(ascii: ".") {
                rest = rest.dropFirst()
                fraction = digits(&rest)
                guard !fraction.isEmpty else { return nil }
            }
            if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
                rest = rest.dropFirst()
                let sign = rest.first
                if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                    rest = rest.dropFirst()
                }
                let power = digits(&rest)
                guard !power.isEmpty, power.count <= 3, let value = Int(decimal: power) else {
                    return nil
                }
                exponent = sign == UInt8(ascii: "-") ? -value : value
            }
            guard rest.isEmpty else { return nil }
        }
    }

    /// A number without its fraction; nil for an absurdly large one. An integer that not every reader keeps
    /// is refused by the reader.
    static func wholeSeconds(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let parts = Parts(text) else { return nil }
        return shifted(
            whole: Array(parts.whole), fraction: Array(parts.fraction), by: parts.exponent
        ).map { parts.isNegative ? -$0 : $0 }
    }

    private static func digits(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let taken = rest.prefix { (0x30...0x39).contains($0) }
        rest = rest.dropFirst(taken.count)
        return taken
    }

    /// The digits before the point, once it was moved.
    private static func shifted(whole: [UInt8], fraction: [UInt8], by exponent: Int) -> Int64? {
        let all = whole + fraction
        let point = whole.count + exponent
        guard point > 0 else { return 0 }
        // The exponent has three digits, so that these are few.
        let missing = max(0, point - all.count)
        let digits = all.prefix(point) + [UInt8](repeating: 0x30, count: missing)
        let significant = digits.drop { $0 == 0x30 }
        return significant.count <= 16 ? Int64(decimal: significant) : nil
    }
}

extension FixedWidthInteger {
    /// No digits are zero; nil when it doesn't fit.
    fileprivate init?(decimal digits: ArraySlice<UInt8>) {
        var value: Self = 0
        for digit in digits {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Self(digit &- 0x30))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        self = value
    }
}
