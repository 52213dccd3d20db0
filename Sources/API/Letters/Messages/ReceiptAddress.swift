internal import Identity
internal import Values

/// Where gateways say what became of a message. It follows from the realm's settings alone, so that the one who
/// signs it and the one who verifies it name the same address behind every proxy.
enum ReceiptAddress {
    static let path = "/api/messages/receipts"

    /// Nil where the realm's public address is not known: gateways on the internet could not call it.
    static func base(_ settings: Settings) -> String? {
        if let links = settings[SettingCatalogue.linksBaseURL] {
            guard links.utf8.starts(with: "https://".utf8) else { return nil }
            return (links.utf8.last == 0x2F ? String(links.dropLast()) : links) + path
        }
        return settings[SettingCatalogue.primaryDomain].map { "https://\($0)\(path)" }
    }

    /// Of one message, as Twilio is told it with each one.
    static func of(_ message: UUID, by channel: Channel, at base: String) -> String {
        "\(base)/\(channel.rawValue)/\(message)"
    }
}
