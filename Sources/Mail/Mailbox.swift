/// An address and the name that stands before it.
public struct Mailbox: Sendable, Hashable {
    public let address: MailAddress
    /// One line without anything invisible; empty for none.
    public let name: String

    public init(_ address: MailAddress, name: String = "") {
        self.address = address
        self.name = singleLine(name, maximum: 80)
    }

    var words: [String] {
        name.isEmpty ? [address.text] : HeaderText.phrase(name) + ["<\(address.text)>"]
    }
}

/// The permanent identifier of a mail: `left@domain`, given by its sender, so that a mail that is
/// sent twice is the same mail.
public struct MessageID: Sendable, Hashable {
    let text: String

    /// Nil for anything but two dot-atoms of ASCII with an `@` between them.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, text.utf8.count <= 200,
            parts.allSatisfy({ part in
                part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                    .allSatisfy { !$0.isEmpty && $0.allSatisfy(isAtomText) }
            })
        else { return nil }
        self.text = text
    }
}
