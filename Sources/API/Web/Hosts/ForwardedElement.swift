internal import HTTP

/// One element of the header `Forwarded` (RFC 7239 section 4).
struct ForwardedElement {
    /// Nil for an unknown or hidden address.
    var address: IPAddress?
    var host: String?
    var proto: String?

    /// The elements of all the header's lines, in order. Nil where something doesn't keep to the
    /// standard: a reader that guesses can be told two stories.
    static func list(_ lines: [String]) -> [ForwardedElement]? {
        var elements: [ForwardedElement] = []
        for line in lines {
            guard line.utf8.count <= 8192 else { return nil }
            var reader = ForwardedReader(bytes: Array(line.utf8))
            guard let read = reader.elements() else { return nil }
            elements += read
        }
        return elements
    }
}

private struct ForwardedReader {
    let bytes: [UInt8]
    var index = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func elements() -> [ForwardedElement]? {
        var elements: [ForwardedElement] = []
        while true {
            guard let element = element() else { return nil }
            elements.append(element)
            skipSpaces()
            if index == bytes.count { return elements }
            guard bytes[index] == UInt8(ascii: ",") else { return nil }
            index += 1
        }
    }

    private mutating func element() -> ForwardedElement? {
        var pairs: [String: String] = [:]
        while true {
            skipSpaces()
            guard let name = token(), take("="), let value = value(),
                pairs.updateValue(value, forKey: name.lowercased()) == nil
            else { return nil }
            skipSpaces()
            if !take(";") { break }
        }
        var element = ForwardedElement(host: pairs["host"], proto: pairs["proto"]?.lowercased())
        if let node = pairs["for"] {
            let isHidden = node.lowercased() == "unknown" || node.utf8.first == UInt8(ascii: "_")
            if !isHidden {
                guard let address = NodeAddress.read(node) else { return nil }
                element.address = address
            }
        }
        return element
    }

    private mutating func value() -> String? {
        guard index < bytes.count else { return nil }
        return bytes[index] == UInt8(ascii: "\"") ? quoted() : token()
    }

    private mutating func quoted() -> String? {
        index += 1
        var text: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard index < bytes.count else { return nil }
                text.append(bytes[index])
                index += 1
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func token() -> String? {
        let start = index
        while index < bytes.count, isTokenByte(bytes[index]) { index += 1 }
        return index > start ? String(decoding: bytes[start..<index], as: UTF8.self) : nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, UInt32(bytes[index]) == character.value else { return false }
        index += 1
        return true
    }

    private mutating func skipSpaces() {
        while index < bytes.count, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
    }

    private func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}

/// An address as proxies write it: alone or with a port, an IPv6 one in brackets or bare.
enum NodeAddress {
    static func read(_ text: String) -> IPAddress? {
        let bytes = Array(text.utf8)
        guard bytes.count <= 64 else { return nil }
        var end = bytes.endIndex
        var start = 0
        var port: ArraySlice<UInt8> = []
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            (start, end, port) = (1, bracket, bytes[(bracket + 1)...])
        } else if bytes.count(where: { $0 == UInt8(ascii: ":") }) == 1,
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        {
            (end, port) = (colon, bytes[colon...])
        }
        guard port.isEmpty || isPort(port),
            let address = IPAddress(String(decoding: bytes[start..<end], as: UTF8.self)),
            address.isIPv6 || start == 0
        else { return nil }
        return address.withoutMapping
    }

    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.first == UInt8(ascii: ":") && (2...6).contains(bytes.count)
            && bytes.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }
}
