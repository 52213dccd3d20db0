/// The ASCII form of a label with other letters (RFC 3492), without the `xn--` in front.
public enum Punycode {
    private static let base: UInt32 = 36
    private static let thresholdMinimum: UInt32 = 1
    private static let thresholdMaximum: UInt32 = 26
    private static let firstBias: UInt32 = 72
    private static let firstScalar: UInt32 = 0x80
    /// A label has at most 63 bytes: longer input is no label, and costs no time.
    private static let maximumLength = 63

    public static func encode(_ scalars: [Unicode.Scalar]) -> String? {
        guard scalars.count <= maximumLength else { return nil }
        var output = scalars.filter(\.isASCII).map { UInt8(truncatingIfNeeded: $0.value) }
        let basicCount = UInt32(output.count)
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var handled = basicCount
        var current = firstScalar
        var delta: UInt32 = 0
        var bias = firstBias
        while handled < scalars.count {
            guard let next = scalars.map(\.value).filter({ $0 >= current }).min() else {
                return nil
            }
            // At most 63 scalars below 0x110000: no product or sum leaves 32 bits.
            delta += (next - current) * (handled + 1)
            current = next
            for scalar in scalars {
                if scalar.value < current { delta += 1 }
                guard scalar.value == current else { continue }
                append(delta, bias, to: &output)
                bias = adapted(delta, handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            current += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    public static func decode(_ text: String) -> [Unicode.Scalar]? {
        let bytes = Array(text.utf8)
        guard bytes.count <= maximumLength, bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        let dash = bytes.lastIndex(of: UInt8(ascii: "-"))
        var scalars = bytes[..<(dash ?? 0)].map { Unicode.Scalar($0) }
        var rest = bytes[(dash.map { $0 + 1 } ?? 0)...]
        var current = firstScalar
        var index: UInt32 = 0
        var bias = firstBias
        while !rest.isEmpty {
            let before = index
            guard let after = readNumber(&rest, from: index, bias) else { return nil }
            let count = UInt32(scalars.count) + 1
            bias = adapted(after - before, count, isFirst: before == 0)
            let (sum, overflow) = current.addingReportingOverflow(after / count)
            guard !overflow, let scalar = Unicode.Scalar(sum), !scalar.isASCII else { return nil }
            current = sum
            index = after % count
            scalars.insert(scalar, at: Int(index))
            index += 1
        }
        return scalars
    }

    /// A number of variable length, added to `start`.
    private static func readNumber(
        _ rest: inout ArraySlice<UInt8>, from start: UInt32, _ bias: UInt32
    ) -> UInt32? {
        var value = start
        var weight: UInt32 = 1
        var position = base
        while let digit = rest.popFirst().flatMap(value(of:)) {
            let (product, isLarge) = digit.multipliedReportingOverflow(by: weight)
            let (sum, isLarger) = value.addingReportingOverflow(product)
            guard !isLarge, !isLarger else { return nil }
            value = sum
            let limit = threshold(position, bias)
            if digit < limit { return value }
            let (heavier, isHeavy) = weight.multipliedReportingOverflow(by: base - limit)
            guard !isHeavy else { return nil }
            weight = heavier
            position += base
        }
        return nil
    }

    private static func append(_ number: UInt32, _ bias: UInt32, to output: inout [UInt8]) {
        var left = number
        var position = base
        while true {
            let limit = threshold(position, bias)
            guard left >= limit else { break }
            output.append(digit(limit + (left - limit) % (base - limit)))
            left = (left - limit) / (base - limit)
            position += base
        }
        output.append(digit(left))
    }

    private static func threshold(_ position: UInt32, _ bias: UInt32) -> UInt32 {
        if position <= bias { return thresholdMinimum }
        return min(position - bias, thresholdMaximum)
    }

    private static func adapted(_ delta: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias: UInt32 = 0
        while delta > (base - thresholdMinimum) * thresholdMaximum / 2 {
            delta /= base - thresholdMinimum
            bias += base
        }
        return bias + (base - thresholdMinimum + 1) * delta / (delta + 38)
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        let small = UInt8(truncatingIfNeeded: value)
        return small < 26 ? UInt8(ascii: "a") + small : UInt8(ascii: "0") + small - 26
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case 0x61...0x7A: UInt32(digit - 0x61)
        case 0x30...0x39: UInt32(digit - 0x30) + 26
        default: nil
        }
    }
}
