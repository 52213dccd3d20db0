internal import JSON
internal import Values

/// A value within a policy, and where it stands.
struct PolicyPlace {
    let json: JSON
    let pointer: String

    init(_ json: JSON, at pointer: String = "") {
        self.json = json
        self.pointer = pointer
    }

    func fault(_ says: String) -> PolicyFault { PolicyFault(pointer, says) }

    /// Nil where the member is not there.
    subscript(name: String) -> PolicyPlace? {
        json[name].map { PolicyPlace($0, at: "\(pointer)/\(Self.escaped(name))") }
    }

    /// An object with at least one member, and with no other than these.
    func mustHave(only names: [String]) throws(PolicyFault) {
        guard let members = json.object else { throw fault("must be an object") }
        for (name, _) in members where !names.contains(name) {
            let hint = NearestName.hint(for: name, among: names)
            throw PolicyFault("\(pointer)/\(Self.escaped(name))", "is not known here\(hint)")
        }
        if members.isEmpty { throw fault("must have one of \(names.joined(separator: ", "))") }
    }

    func number(in range: ClosedRange<Int64>) throws(PolicyFault) -> Int64 {
        guard let number = json.integer, range.contains(number) else {
            throw fault("must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func elements(_ most: Int) throws(PolicyFault) -> [PolicyPlace] {
        guard let elements = json.array, (1...most).contains(elements.count) else {
            throw fault("must be a list of 1 to \(most)")
        }
        return elements.enumerated().map { PolicyPlace($1, at: "\(pointer)/\($0)") }
    }

    /// - Parameter known: what a text may be; nil for any text of at most 255 bytes.
    func texts(_ most: Int, known: [String]? = nil) throws(PolicyFault) -> [String] {
        var texts: [String] = []
        for place in try elements(most) { texts.append(try place.text(known: known)) }
        return texts
    }

    func text(known: [String]? = nil) throws(PolicyFault) -> String {
        guard let text = json.string, (1...255).contains(text.utf8.count) else {
            throw fault("must be a text of 1 to 255 bytes")
        }
        if let known, !known.contains(text) {
            throw fault(
                "is not one of \(known.joined(separator: ", "))"
                    + NearestName.hint(for: text, among: known))
        }
        return text
    }

    /// Seconds of a text such as `30m`, `12h` or `7d`.
    func duration(upTo most: Int64) throws(PolicyFault) -> Int64 {
        let units: [UInt8: Int64] = [
            UInt8(ascii: "s"): 1, UInt8(ascii: "m"): 60, UInt8(ascii: "h"): 3_600,
            UInt8(ascii: "d"): 86_400,
        ]
        let text = Array((json.string ?? "").utf8)
        guard let unit = text.last.flatMap({ units[$0] }), text.count <= 9,
            let number = Self.number(text.dropLast()), number > 0, number * unit <= most
        else {
            throw fault("must be a time such as 30m, 12h or 7d, of at most \(most / 86_400)d")
        }
        return number * unit
    }

    /// Seconds of a time of the day such as `07:30`.
    func timeOfDay() throws(PolicyFault) -> Int64 {
        guard let seconds = Self.clock(Array((json.string ?? "").utf8)) else {
            throw fault("must be a time of the day such as 07:30")
        }
        return seconds
    }

    /// Seconds of a distance from UTC such as `+01:00`.
    func offset() throws(PolicyFault) -> Int64 {
        let text = Array((json.string ?? "").utf8)
        guard let sign = text.first, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(sign),
            let seconds = Self.clock(Array(text.dropFirst())), seconds <= 14 * 3_600
        else { throw fault("must be a distance from UTC such as +01:00, of at most 14 hours") }
        return sign == UInt8(ascii: "+") ? seconds : -seconds
    }

    static func number(_ digits: some Collection<UInt8>) -> Int64? {
        guard (1...15).contains(digits.count) else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - 0x30)
        }
        return number
    }

    private static func clock(_ text: [UInt8]) -> Int64? {
        guard text.count == 5, text[2] == UInt8(ascii: ":"), let hours = number(text[0..<2]),
            let minutes = number(text[3..<5]), hours < 24, minutes < 60
        else { return nil }
        return hours * 3_600 + minutes * 60
    }

    private static func escaped(_ name: String) -> String {
        name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}
