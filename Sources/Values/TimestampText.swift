extension Timestamp: CustomStringConvertible {
    /// RFC 3339 in UTC with six decimals. Years outside 0000…9999, which RFC 3339 can't say, get a
    /// sign and as many digits as they need.
    public var description: String {
        let (seconds, fraction) = floorDivide(microseconds, 1_000_000)
        let (days, secondOfDay) = floorDivide(seconds, 86_400)
        let date = CivilDate(daysSince1970: days)
        var text: [UInt8] = []
        text.reserveCapacity(32)
        if (0...9999).contains(date.year) {
            text.append(decimal: date.year, digits: 4)
        } else {
            text.append(UInt8(ascii: date.year < 0 ? "-" : "+"))
            text.append(decimal: abs(date.year), digits: 6)
        }
        text.append(UInt8(ascii: "-"))
        text.append(decimal: date.month, digits: 2)
        text.append(UInt8(ascii: "-"))
        text.append(decimal: date.day, digits: 2)
        text.append(UInt8(ascii: "T"))
        text.append(decimal: secondOfDay / 3600, digits: 2)
        text.append(UInt8(ascii: ":"))
        text.append(decimal: secondOfDay / 60 % 60, digits: 2)
        text.append(UInt8(ascii: ":"))
        text.append(decimal: secondOfDay % 60, digits: 2)
        text.append(UInt8(ascii: "."))
        text.append(decimal: fraction, digits: 6)
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    /// RFC 3339 with any offset. At most nine decimals, cut to microseconds; second 60 only where
    /// UTC can have it, and it counts as the second that follows; the instant must fall in the
    /// years 0000…9999, so that it can be written again.
    public init?(rfc3339 text: String) {
        var reader = Reader(bytes: Array(text.utf8))
        guard let year = reader.number(digits: 4), reader.skip("-"),
            let month = reader.number(digits: 2, in: 1...12), reader.skip("-"),
            let day = reader.number(digits: 2, in: 1...CivilDate.daysIn(month: month, year: year)),
            reader.skip("T") || reader.skip("t"),
            let hour = reader.number(digits: 2, in: 0...23), reader.skip(":"),
            let minute = reader.number(digits: 2, in: 0...59), reader.skip(":"),
            let second = reader.number(digits: 2, in: 0...60),
            let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        let (utcDays, secondOfDay) = floorDivide(seconds, 86_400)
        let date = CivilDate(daysSince1970: utcDays)
        guard (0...9999).contains(date.year) else { return nil }
        if second == 60 {
            // The leap second 23:59:60 is counted as 00:00:00 of the first of January or of July.
            guard secondOfDay == 0, date.day == 1, date.month == 1 || date.month == 7 else {
                return nil
            }
        }
        self.init(microseconds: seconds * 1_000_000 + fraction)
    }
}

extension [UInt8] {
    /// A number that isn't negative, filled with zeros to at least `digits`.
    fileprivate mutating func append(decimal value: Int64, digits: Int) {
        var divisor: Int64 = 1
        var count = 1
        while count < digits || value / divisor >= 10 {
            divisor *= 10
            count += 1
        }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }
}

private struct Reader {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func skip(_ expected: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: expected) else {
            return false
        }
        position += 1
        return true
    }

    mutating func digit() -> Int64? {
        guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
        position += 1
        return Int64(bytes[position - 1] - 0x30)
    }

    mutating func number(digits: Int, in range: ClosedRange<Int64> = 0...9999) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return range.contains(value) ? value : nil
    }

    /// Microseconds; zero when there is no decimal point.
    mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        var value: Int64 = 0
        var count = 0
        while let digit = digit() {
            count += 1
            if count <= 6 { value = value * 10 + digit }
        }
        guard (1...9).contains(count) else { return nil }
        for _ in min(count, 6)..<6 { value *= 10 }
        return value
    }

    /// Seconds east of UTC.
    mutating func offset() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isWest = skip("-")
        guard isWest || skip("+"), let hours = number(digits: 2, in: 0...23), skip(":"),
            let minutes = number(digits: 2, in: 0...59)
        else { return nil }
        let seconds = hours * 3600 + minutes * 60
        return isWest ? -seconds : seconds
    }
}
