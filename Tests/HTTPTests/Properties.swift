import HTTP

/// What must hold for any bytes; the sentence says what broke. Tests and fuzzers share it.
func brokenFormProperty(of bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    if Percent.decode(Percent.encode(text)) != text { return "an escaped text is lost" }
    if let plain = Percent.decode(text), Percent.decode(Percent.encode(plain)) != plain {
        return "an unescaped text is lost"
    }
    if let pairs = Form.parse(bytes) {
        guard let again = Form.parse(Form.encode(pairs), maximumBytes: .max) else {
            return "a form can't be read again"
        }
        // A pair without name and value leaves nothing between two ampersands only if it was
        // written so; Form.encode always writes the equals sign.
        guard again.count == pairs.count,
            zip(again, pairs).allSatisfy({ isSame($0.name, $1.name) && isSame($0.value, $1.value) })
        else { return "a form changes" }
    }
    guard let pairs = Form.parse(Form.encode([(text, text)]), maximumBytes: .max),
        pairs.count == 1, isSame(pairs[0].name, text), isSame(pairs[0].value, text)
    else { return "a pair changes" }
    return nil
}

func brokenURLProperty(of bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    if let address = IPAddress(text) {
        if IPAddress(address.description) != address { return "an address changes" }
    }
    guard let url = URLParts.parse(text) else { return nil }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }) else {
        return "a character got in"
    }
    if let host = url.host {
        if host.isEmpty { return "a host is empty" }
        let isPlain = host.utf8.allSatisfy { byte in
            switch byte {
            case 0x2D, 0x2E, 0x30...0x39, 0x5F, 0x61...0x7A: true
            case 0x3A: url.address?.isIPv6 == true
            default: false
            }
        }
        if !isPlain { return "a host holds more than a name or an address" }
    }
    if url.scheme == "http" || url.scheme == "https", url.host == nil { return "no host" }
    // The parts, put together again, are read as the same parts.
    var again = url.scheme + ":"
    if let host = url.host {
        again += "//" + (url.hasUserInfo ? "@" : "")
        again += url.address?.isIPv6 == true ? "[\(host)]" : host
        again += url.port.map { ":\($0)" } ?? ""
    }
    again += url.path + (url.query.map { "?" + $0 } ?? "") + (url.fragment.map { "#" + $0 } ?? "")
    if URLParts.parse(again) != url { return "the parts make another URL" }
    return nil
}

/// The bytes up to the first zero are the name, the rest is the value; and all of them are both.
func brokenHeaderProperty(of bytes: [UInt8]) -> String? {
    let split = bytes.firstIndex(of: 0) ?? bytes.endIndex
    let name = String(decoding: bytes[..<split], as: UTF8.self)
    let value = String(decoding: bytes[split...], as: UTF8.self)
    let whole = String(decoding: bytes, as: UTF8.self)
    var headers: Headers = ["First": value, "Second": whole]
    headers.append(name, value)
    headers.append(whole, whole)
    headers[name] = whole
    headers["third"] = value
    var wire: [UInt8] = []
    for (name, value) in headers { wire += Array((name + ": " + value + "\r\n").utf8) }
    var lines: [[UInt8]] = [[]]
    for byte in wire {
        if byte == 0x0A { lines.append([]) } else { lines[lines.count - 1].append(byte) }
    }
    // What a client reads is what was set: as many lines, each with its name and its value.
    guard lines.count == headers.count + 1, lines.last?.isEmpty == true else {
        return "the headers are split"
    }
    for (line, field) in zip(lines, headers) {
        guard line.last == 0x0D, let colon = line.firstIndex(of: 0x3A) else {
            return "a line is none"
        }
        guard Array(field.name.utf8) == Array(line[..<colon]) else { return "a name changes" }
        let rest = line[(colon + 1)...].dropLast()
        if rest.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7F }) {
            return "a control character got out"
        }
        let read = rest.drop { $0 == 0x20 || $0 == 9 }
        guard Array(field.value.utf8) == Array(read) else { return "a value changes" }
    }
    if headers["THIRD"] == nil { return "a header can't be found" }
    return nil
}

private func isSame(_ left: String, _ right: String) -> Bool {
    left.utf8.elementsEqual(right.utf8)
}
