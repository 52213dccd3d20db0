internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Who carries a realm's messages to phones.
enum MessageGatewayRoutes {
    static let table: [Route<AdminContext>] = [list, set, remove]

    private static let channel = Parameter(
        "channel", in: .path, .oneOf(Channel.ofPhones.map(\.rawValue)), "Channel of the gateway.",
        example: "sms")

    private static let list = Route.whole(
        "/api/admin/realms/{realm}/message-gateways", id: "listMessageGateways",
        commandLine: .urd("message-gateway show", examples: "urd message-gateway show"),
        tag: "Messages", summary: "Show the gateways that carry messages to phones.",
        detail: "Without the secrets, which are never shown again.", of: shape, 0...2,
        "One of a channel."
    ) { call throws(Problem) in
        let gateways = try await call.configuration(
            MessageGateways.self, of: MessageGateways.stream)
        return Channel.ofPhones.compactMap { channel in
            gateways.byChannel[channel].map { (channel, $0) }
        }
    }

    private static let set = Route<AdminContext>(
        .put, "/api/admin/realms/{realm}/message-gateways/{channel}", id: "setMessageGateway",
        commandLine: .urd(
            "message-gateway set",
            examples:
                "urd message-gateway set sms --kind twilio --account AC0123456789abcdef0123456789abcdef \\\n"
                + "      --sender +15005550006 --secret \"$(cat auth-token)\"",
            "urd message-gateway set sms --kind webhook --address https://sms.example.org/send \\\n"
                + "      --secret \"$(cat token)\""),
        tag: "Messages", summary: "Set the gateway that carries messages of one kind.",
        detail: """
            A `webhook` is sent JSON with `to`, `text` and `code`, and `Authorization: Bearer` with the \
            secret. Of `twilio` the account is its SID, the secret its auth token, the sender a number or \
            a messaging service, and the template a content SID, which WhatsApp needs. Of \
            `whatsapp_cloud` the account is the id of the phone number, the secret an access token, and \
            the template one of the kind authentication; its delivery receipts are taken where \
            `receipt_secret` is the app's secret and `verify_token` a text that Meta is told too.
            """,
        right: .realm, parameters: [.realm, channel, .idempotencyKey],
        body: Body(
            schema: .named(
                "NewMessageGateway",
                .object(
                    .required(
                        "kind", .oneOf(MessageGateway.Kind.allCases.map(\.rawValue)),
                        "Kind of gateway."),
                    .required("secret", .text(1...1_000), "Secret of the realm at the gateway."),
                    .optional(
                        "address", .text(1...2_000),
                        "URL of the gateway (https), if it is not the usual one."),
                    .optional("account", .text(1...100), "Account of the realm at the gateway."),
                    .optional("sender", .text(1...100), "Sender of the messages."),
                    .optional("template", .text(1...100), "Template of WhatsApp messages."),
                    .optional(
                        "receipt_secret", .text(1...1_000),
                        "Secret that `whatsapp_cloud` signs delivery receipts with."),
                    .optional(
                        "verify_token", .text(1...1_000),
                        "Token that `whatsapp_cloud` shows when it registers for delivery receipts."
                    ))),
            example: [
                "kind": "twilio", "account": "AC0123456789abcdef0123456789abcdef",
                "sender": "+15005550006", "secret": "0123456789abcdef",
            ]),
        answer: .gone("The gateway is stored."), refusals: [.noSuchRealm, .realmDisabled]
    ) { call throws(Problem) in
        let channel = try call.channel
        guard let kind = call.body["kind"]?.string.flatMap(MessageGateway.Kind.init) else {
            throw Problem(.invalidField, "kind is unknown.", field: "kind")
        }
        guard let address = call.body["address"]?.string ?? kind.usualAddress else {
            throw Problem(.missingField, "address is required.", field: "address")
        }
        let gateway = MessageGateway(
            kind: kind, address: address, account: call.body["account"]?.string,
            sender: call.body["sender"]?.string, template: call.body["template"]?.string,
            secret: call.body["secret"]?.string,
            receiptSecret: call.body["receipt_secret"]?.string,
            verifyToken: call.body["verify_token"]?.string)
        let done = try await call.run(
            MessageGatewayChange.set(channel, gateway), as: call.write(in: try call.realm))
        return Response(status: .noContent).at(done)
    }

    private static let remove = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/message-gateways/{channel}",
        id: "removeMessageGateway",
        commandLine: .urd(
            "message-gateway remove", examples: "urd message-gateway remove sms"),
        tag: "Messages", summary: "Remove the gateway for messages of one kind.",
        right: .realm, parameters: [.realm, channel, .idempotencyKey],
        answer: .gone("The gateway is deleted."),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchMessageGateway]
    ) { call throws(Problem) in
        let done = try await call.run(
            MessageGatewayChange.remove(try call.channel), as: call.write(in: try call.realm))
        return Response(status: .noContent).at(done)
    }

    private static let shape = Shape<(channel: Channel, gateway: MessageGateway)>(
        "MessageGateway",
        .required(
            "channel", .oneOf(Channel.ofPhones.map(\.rawValue)), "Channel of the gateway.",
            \.channel.rawValue, example: "sms"),
        .required(
            "kind", .oneOf(MessageGateway.Kind.allCases.map(\.rawValue)), "Kind of gateway.",
            \.gateway.kind.rawValue, example: "twilio"),
        .required(
            "address", .text(1...2_000), "URL of the gateway.", \.gateway.address,
            example: "https://api.twilio.com"),
        .required("usable", "Whether the secret can be decrypted.", { $0.gateway.secret != nil }),
        .required("receipts", "Whether delivery receipts are accepted.", \.gateway.signsReceipts),
        .required(
            "secrets", .list(of: .oneOf(MessageGateway.secretNames), 0...3),
            "Names of the secrets that the gateway has.",
            \.gateway.heldSecrets, example: ["secret"]),
        .optional(
            "account", .text(1...100), "Account of the realm at the gateway.", \.gateway.account,
            example: "AC0123456789abcdef0123456789abcdef"),
        .optional(
            "sender", .text(1...100), "Sender of the messages.", \.gateway.sender,
            example: "+15005550006"),
        .optional(
            "template", .text(1...100), "Template of WhatsApp messages.", \.gateway.template))
}

extension MessageGateway {
    fileprivate static let secretNames = ["secret", "receipt_secret", "verify_token"]

    fileprivate var heldSecrets: [String] {
        zip(Self.secretNames, [secret, receiptSecret, verifyToken]).filter { $0.1 != nil }.map(\.0)
    }
}

extension Call<AdminContext> {
    fileprivate var channel: Channel {
        get throws(Problem) {
            guard let channel = Channel(rawValue: try required("channel")) else {
                throw Problem(.invalidParameter, "There is no such channel.", field: "channel")
            }
            return channel
        }
    }
}

extension MessageGatewayChange.SetRejection: Refusal {
    var problem: Problem {
        switch self {
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension MessageGatewayChange.RemoveRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notSet: Problem(.noSuchMessageGateway)
        }
    }
}
