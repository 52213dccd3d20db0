public import EventSourcing
public import Values

public enum MessageGatewayEvent: FormedEvent {
    case set(Channel, MessageGateway)
    case removed(Channel)

    package enum Form {
        package static let set = EventForm(
            "message_gateway.set", .audit, .administration(.updated),
            "A message gateway of the realm was set.", .carried, .gateway,
            make: MessageGatewayEvent.set)
        package static let removed = EventForm(
            "message_gateway.removed", .audit, .administration(.removed),
            "The message gateway was removed.", .carried, make: MessageGatewayEvent.removed)
    }

    public static let forms: EventForms<Self> = [Form.set, Form.removed]

    /// Not personal data, but sealed like it: such secrets are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? {
        switch self {
        case .set: stream
        case .removed: nil
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .set(let channel, let gateway): Form.set(channel, gateway)
        case .removed(let channel): Form.removed(channel)
        }
    }
}

extension Field<Channel> {
    fileprivate static let carried = choice("channel", "Messages of which kind it carries.")
}

extension Field<MessageGateway> {
    fileprivate static let gateway = record(
        .choice("kind", "What kind of gateway it is."), .text("address", "Address of its API."),
        // Not `account`, which names one of the realm's.
        .optional(.text("gateway_account", "What the realm is called at the gateway.")),
        .optional(.text("sender", "Where messages come from.")),
        .optional(.text("template", "Template of messages by WhatsApp.")),
        .optional(.text("secret", "What the gateway knows the realm by.", .neverLeaves(.sealed))),
        .optional(
            .text("receipt_secret", "What the gateway signs receipts with.", .neverLeaves(.sealed))),
        .optional(
            .text(
                "verify_token", "What the gateway shows when it asks for receipts.",
                .neverLeaves(.sealed))),
        make: {
            MessageGateway(
                kind: $0, address: $1, account: $2, sender: $3, template: $4, secret: $5,
                receiptSecret: $6, verifyToken: $7)
        },
        take: {
            (
                $0.kind, $0.address, $0.account, $0.sender, $0.template, $0.secret,
                $0.receiptSecret, $0.verifyToken
            )
        })
}
