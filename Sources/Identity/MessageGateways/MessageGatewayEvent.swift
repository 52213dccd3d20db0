public import EventSourcing
public import JSON
public import Values

public enum MessageGatewayEvent: Event {
    case set(Channel, MessageGateway)
    case removed(Channel)

    private static let channel: EventField = .choice(
        "channel", Channel.self, "Messages of which kind it carries.")

    public static let catalogue: [EventShape] = [
        EventShape(
            "message_gateway.set", .audit, "A message gateway of the realm was set.",
            [
                channel, .choice("kind", MessageGateway.Kind.self, "What kind of gateway it is."),
                .text("address", "Address of its API."),
                // Not `account`, which names one of the realm's.
                .text("gateway_account", "What the realm is called at the gateway.").optional,
                .text("sender", "Where messages come from.").optional,
                .text("template", "Template of messages by WhatsApp.").optional,
                .text("secret", "What the gateway knows the realm by.", .neverLeaves(.sealed))
                    .optional,
                .text(
                    "receipt_secret", "What the gateway signs receipts with.",
                    .neverLeaves(.sealed)
                ).optional,
                .text(
                    "verify_token", "What the gateway shows when it asks for receipts.",
                    .neverLeaves(.sealed)
                ).optional,
            ]),
        EventShape(
            "message_gateway.removed", .audit, "The message gateway was removed.", [channel]),
    ]

    public var name: String {
        switch self {
        case .set: "message_gateway.set"
        case .removed: "message_gateway.removed"
        }
    }

    public var subject: UUID? { nil }

    /// Not personal data, but sealed like it: such secrets are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? {
        switch self {
        case .set: stream
        case .removed: nil
        }
    }

    public var fields: JSONObject {
        switch self {
        case .set(let channel, let gateway):
            var fields: JSONObject = [
                "channel": .string(channel.rawValue), "kind": .string(gateway.kind.rawValue),
                "address": .string(gateway.address),
            ]
            fields["gateway_account"] = gateway.account.map { .string($0) }
            fields["sender"] = gateway.sender.map { .string($0) }
            fields["template"] = gateway.template.map { .string($0) }
            fields["secret"] = gateway.secret.map { .string($0) }
            fields["receipt_secret"] = gateway.receiptSecret.map { .string($0) }
            fields["verify_token"] = gateway.verifyToken.map { .string($0) }
            return fields
        case .removed(let channel): return ["channel": .string(channel.rawValue)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let channel: Channel = fields.choice("channel") else { return nil }
        switch name {
        case "message_gateway.set":
            guard let kind: MessageGateway.Kind = fields.choice("kind"),
                let address = fields["address"]?.string
            else { return nil }
            self = .set(
                channel,
                MessageGateway(
                    kind: kind, address: address, account: fields["gateway_account"]?.string,
                    sender: fields["sender"]?.string, template: fields["template"]?.string,
                    secret: fields["secret"]?.string,
                    receiptSecret: fields["receipt_secret"]?.string,
                    verifyToken: fields["verify_token"]?.string))
        case "message_gateway.removed": self = .removed(channel)
        default: return nil
        }
    }
}
