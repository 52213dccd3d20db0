import Mail
import Values

/// What must hold for any bytes; the sentence says what broke. Tests and fuzzers share it.
func brokenAddressProperty(of bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    for written in [text, text + "@example.org", "a@" + text, "a@" + text + ".example"] {
        guard let address = try? MailAddress(written) else { continue }
        guard
            address.text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) })
        else { return "a character got in" }
        guard address.text.utf8.count <= 254 else { return "it is too long for a mail server" }
        guard (try? MailAddress(address.text)) == address else { return "it has two forms" }
        guard address.text.utf8.count(where: { $0 == 0x40 }) == 1 else { return "it has two signs" }
    }
    return nil
}

/// The bytes are the subject, the names and both bodies.
func brokenMessageProperty(of bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let address = try? MailAddress("urd@example.org"),
        let id = MessageID("1@example.org")
    else { return "an address is none" }
    let content = MailTemplates(branding: Branding(productName: text, footer: text)).content(
        of: .emailOtp(code: text, minutes: 10), in: .german, displayName: text)
    for (subject, plain, html) in [
        (text, text, text), (content.subject, content.text, content.html),
    ] {
        let mail = MailMessage(
            from: Mailbox(address, name: text), to: Mailbox(address, name: text), subject: subject,
            text: plain, html: html, date: Timestamp(seconds: 0), id: id)
        if let sentence = brokenWire(mail.bytes) { return sentence }
    }
    return nil
}

private func brokenWire(_ bytes: [UInt8]) -> String? {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    for (index, byte) in bytes.enumerated() {
        switch byte {
        case 0x0D:
            guard index + 1 < bytes.count, bytes[index + 1] == 0x0A else { return "a bare CR" }
        case 0x0A:
            guard index > start, bytes[index - 1] == 0x0D else { return "a bare LF" }
            lines.append(bytes[start..<(index - 1)])
            start = index + 1
        case 0x09, 0x20...0x7E: break
        default: return "a byte that is no text"
        }
    }
    guard start == bytes.count else { return "the last line has no end" }
    guard lines.allSatisfy({ $0.count <= 998 }) else { return "a line is too long" }
    guard !lines.contains(where: { $0.first == 0x2E }) else { return "a line begins with a dot" }
    let head = lines.prefix { !$0.isEmpty }
    guard head.count(where: { $0.first != 0x20 }) == 9 else { return "a header got in" }
    guard lines.count(where: { $0.starts(with: "--=_".utf8) }) == 3 else { return "a part got in" }
    return nil
}
