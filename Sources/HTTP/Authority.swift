/// What stands between `//` and the path: who is called, and as whom.
struct Authority {
    let hasUserInfo: Bool
    let host: String
    let address: IPAddress?
    let port: UInt16?

    init?(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        // A second @ is no host character, so that it is refused below, wherever a parser would split.
        if let sign = rest.firstIndex(of: UInt8(ascii: "@")) {
            let isUserInfo = isEscapedText(rest[..<sign]) {
                isUnreserved($0) || isSubDelimiter($0) || $0 == UInt8(ascii: ":")
            }
            guard isUserInfo else { return nil }
            rest = rest[(sign + 1)...]
            hasUserInfo = true
        } else {
            hasUserInfo = false
        }
        let hostText: ArraySlice<UInt8>
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            hostText = rest[(rest.startIndex + 1)..<end]
            rest = rest[(end + 1)...]
            guard let six = IPAddress(String(decoding: hostText, as: UTF8.self)), six.isIPv6
            else { return nil }
            address = six
            host = six.description
        } else {
            let end = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            hostText = rest[..<end]
            rest = rest[end...]
            host = String(decoding: hostText.map(lowercased), as: UTF8.self)
            let four = IPAddress(host)
            guard four != nil || Authority.isName(hostText) else { return nil }
            address = four
        }
        guard let first = rest.first else {
            port = nil
            return
        }
        guard first == UInt8(ascii: ":"), let port = Authority.port(rest.dropFirst()) else {
            return nil
        }
        self.port = port
    }

    /// A name as DNS has them. One whose last label is a number is refused: some readers take
    /// `127.1` or `0x7f000001` for addresses.
    private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count <= 253 else { return false }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let last = labels.last, !isNumber(last) else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.count)
                && label.allSatisfy { isLetter($0) || isDigit($0) || $0 == 0x2D || $0 == 0x5F }
        }
    }

    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        if label.allSatisfy(isDigit) { return true }
        return label.count >= 2 && label.first == 0x30
            && lowercased(label[label.startIndex + 1]) == UInt8(ascii: "x")
            && label.dropFirst(2).allSatisfy { hexValue($0) != nil }
    }

    /// 1…65535 without leading zeros: one text for one port.
    private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard (1...5).contains(digits.count), digits.first != 0x30, digits.allSatisfy(isDigit)
        else { return nil }
        return UInt16(exactly: digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
    }
}
