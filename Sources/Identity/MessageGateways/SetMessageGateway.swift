public import EventSourcing
internal import Values

/// Says who carries a realm's messages of one kind to phones.
public struct SetMessageGateway: Command {
    public var channel: Channel
    public var gateway: MessageGateway

    public init(_ channel: Channel, _ gateway: MessageGateway) {
        self.channel = channel
        self.gateway = gateway
    }

    public enum Rejection: Error, Equatable, Sendable {
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<MessageGateways> {
        try await .read(MessageGateways.stream, from: streams)
    }

    public func decide(_ facts: InRealm<MessageGateways>) throws(Rejection) -> Decision {
        do {
            try gateway.check(for: channel)
        } catch {
            throw .invalid(error)
        }
        return Decision(
            MessageGatewayEvent.set(channel, gateway), in: MessageGateways.stream)
    }
}

extension MessageGateway {
    fileprivate func check(for channel: Channel) throws(FieldFault) {
        guard Channel.ofPhones.contains(channel) else { throw FieldFault("channel", .unsupported) }
        do throws(FieldFault.Reason) {
            // Where a name leads to is looked at when it is called.
            try WebAddressRule.check(
                address, mayBeLoopback: false, mayHaveQuery: kind == .webhook)
        } catch {
            throw FieldFault("address", error)
        }
        guard let secret, !secret.isEmpty else { throw FieldFault("secret", .missing) }
        // It stands in a header.
        guard secret.utf8.count <= 1_000, secret.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw FieldFault("secret", .malformed) }
        for (field, text) in [
            ("receipt_secret", receiptSecret), ("verify_token", verifyToken),
        ] {
            guard let text else { continue }
            // Others sign with the secret that they are called with.
            guard kind == .whatsappCloud else { throw FieldFault(field, .unsupported) }
            guard (8...1_000).contains(text.utf8.count),
                text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { throw FieldFault(field, .malformed) }
        }
        switch kind {
        case .webhook: break
        case .twilio:
            try Self.name("account", account, mayHave: [])
            try Self.name("sender", sender, mayHave: Array("+ -".utf8))
            if channel == .whatsapp { try Self.name("template", template, mayHave: []) }
        case .whatsappCloud:
            guard channel == .whatsapp else { throw FieldFault("channel", .unsupported) }
            try Self.name("account", account, mayHave: [])
            try Self.name("template", template, mayHave: Array("_".utf8))
        }
    }

    /// What goes into a path or a form is looked at letter by letter.
    private static func name(
        _ field: String, _ text: String?, mayHave others: [UInt8]
    ) throws(FieldFault) {
        guard let text, !text.isEmpty else { throw FieldFault(field, .missing) }
        guard text.utf8.count <= 100 else { throw FieldFault(field, .tooLong(limit: 100)) }
        guard
            text.utf8.allSatisfy({
                TextRule.isLetter($0) || TextRule.isDigit($0) || others.contains($0)
            })
        else { throw FieldFault(field, .malformed) }
    }
}
