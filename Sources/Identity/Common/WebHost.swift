internal import Values

/// The host of a web address, as far as every reader takes it for the same one.
enum WebHost {
    /// In small letters, as `AbsoluteURI` has it.
    static func canBe(_ host: String) -> Bool {
        let bytes = Array(host.utf8)
        // What stands in brackets was judged with the address.
        if bytes.first == UInt8(ascii: "[") { return true }
        guard bytes.count <= 253 else { return false }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy({ isLabel(Array($0)) }), let last = labels.last else {
            return false
        }
        // Browsers take what ends in a number for an address: `1.2` for 1.0.0.2, `0x7f.1` for 127.0.0.1.
        return isNumber(Array(last)) ? isAddress(labels) : true
    }

    private static func isLabel(_ label: [UInt8]) -> Bool {
        guard (1...63).contains(label.count),
            label.allSatisfy({
                TextRule.isLetter($0) || TextRule.isDigit($0) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: "_")
            })
        else { return false }
        guard label.starts(with: "xn--".utf8) else { return true }
        let coded = String(decoding: label.dropFirst(4), as: UTF8.self)
        guard let scalars = Punycode.decode(coded), !scalars.allSatisfy(\.isASCII),
            scalars.allSatisfy(isShown)
        else { return false }
        return Punycode.encode(scalars) == coded
    }

    /// A visible character: no control character, space or separator.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .unassigned, .privateUse, .surrogate, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            false
        default: true
        }
    }

    private static func isNumber(_ label: [UInt8]) -> Bool {
        if label.allSatisfy(TextRule.isDigit) { return true }
        guard label.starts(with: "0x".utf8) else { return false }
        return label.dropFirst(2).allSatisfy {
            TextRule.isDigit($0) || (0x61...0x66).contains($0)
        }
    }

    private static func isAddress(_ labels: [ArraySlice<UInt8>]) -> Bool {
        labels.count == 4
            && labels.allSatisfy { label in
                guard let number = UInt8(String(decoding: label, as: UTF8.self)) else {
                    return false
                }
                return String(number).utf8.elementsEqual(label)
            }
    }
}
