package import EventSourcing
internal import Values

/// The changes of a message gateway.
package enum MessageGatewayChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<MessageGateways>, Rejection>

    package enum SetRejection: Error, Equatable, Sendable {
        case invalid(FieldFault)
    }

    /// Says who carries a realm's messages of one kind to phones.
    package static func set(_ channel: Channel, _ gateway: MessageGateway) -> Change<SetRejection> {
        Change(of: MessageGateways.stream) { facts throws(SetRejection) in
            do throws(FieldFault) {
                try gateway.check(for: channel)
            } catch {
                throw .invalid(error)
            }
            guard facts.thing.state.byChannel[channel] != gateway else { return Decision() }
            return Decision(
                MessageGatewayEvent.set(channel, gateway), in: MessageGateways.stream)
        }
    }

    package enum RemoveRejection: Error, Equatable, Sendable {
        case notSet
    }

    /// Takes the gateway for messages of one kind from a realm.
    package static func remove(_ channel: Channel) -> Change<RemoveRejection> {
        Change(of: MessageGateways.stream) { facts throws(RemoveRejection) in
            guard facts.thing.state.byChannel[channel] != nil else { throw .notSet }
            return Decision(MessageGatewayEvent.removed(channel), in: MessageGateways.stream)
        }
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
