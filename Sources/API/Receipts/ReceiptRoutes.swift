internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where gateways say what became of a message. What they say is put on record and changes nothing: no message is
/// sent again by it, and no code counts more or less.
enum ReceiptRoutes {
    static let table: [Route<RealmContext>] = [one, many, asked]

    private static let channel = Parameter(
        "channel", in: .path, .oneOf(Channel.ofPhones.map(\.rawValue)),
        "Channel of the message.", example: "sms")

    private static let refusals: [ProblemKind] =
        Place.refusals + [.forbidden, .noSuchMail, .noSuchMessageGateway, .rateLimited]

    private static let one = Route<RealmContext>(
        .post, "/api/messages/receipts/{channel}/{message}", id: "takeMessageReceipt",
        tag: "Messages", summary: "Receives what Twilio says of a message.",
        detail: "`X-Twilio-Signature` is made with the auth token of the channel's gateway.",
        right: .nothing, voice: .receipts,
        parameters: [
            channel,
            Parameter(
                "message", in: .path, .text(1...64), "Message id.",
                example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"),
            Parameter("X-Twilio-Signature", in: .header, .text(0...255), "Signature of Twilio."),
        ],
        body: .form(
            .object(
                .optional("MessageStatus", .text(0...40), "Delivery status of the message."),
                .optional("ErrorCode", .text(0...40), "Error code of a failed delivery.")),
            example: ["MessageStatus": "delivered"]), answer: .gone("The receipt is stored."),
        refusals: refusals
    ) { call throws(Problem) in
        let (channel, gateway) = try await call.receiptGateway()
        let path = "\(ReceiptAddress.path)/\(channel.rawValue)/\(try call.required("message"))"
        guard gateway.kind == .twilio, let secret = gateway.secret,
            ReceiptSignature.isTwilios(
                call.request.headers["X-Twilio-Signature"] ?? "", of: call.request.body,
                at: call.receiptAddresses.map { $0 + path }, secret: secret)
        else { throw Self.forged }
        guard let mail = UUID(try call.required("message")) else { throw Problem(.noSuchMail) }
        let said = GatewayReceipt.twilio(
            call.body["MessageStatus"]?.string ?? "", call.body["ErrorCode"]?.string)
        try await call.record([(mail, said)], channel)
        return Response(status: .noContent)
    }

    private static let many = Route<RealmContext>(
        .post, "/api/messages/receipts/{channel}", id: "takeMessageReceipts", tag: "Messages",
        summary: "Receives what WhatsApp or a webhook's gateway says of messages.",
        detail: """
            From `whatsapp_cloud` with `X-Hub-Signature-256`, made with the gateway's `receipt_secret`. \
            From a `webhook`'s gateway with the secret that it is called with, and `id` and `status` \
            (`delivered`, or `failed` with a `code`).
            """,
        right: .nothing, voice: .receipts,
        parameters: [
            channel,
            Parameter(
                "X-Hub-Signature-256", in: .header, .text(0...255),
                "Signature of Meta (HMAC-SHA-256)."),
        ],
        body: Body(
            schema: .object(
                .optional("id", .text(0...64), "Message id, as it was sent to the gateway."),
                .optional("status", .text(0...40), "Delivery status: `delivered` or `failed`."),
                .optional("code", .anything, "Error code of a failed delivery."),
                .optional("entry", .anything, "Webhook entries of Meta.")),
            example: ["id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "status": "delivered"],
            maximumBytes: 256 * 1024), answer: .gone("The receipt is stored."), refusals: refusals
    ) { call throws(Problem) in
        let (channel, gateway) = try await call.receiptGateway()
        switch gateway.kind {
        case .twilio: throw Self.forged
        case .whatsappCloud:
            guard let secret = gateway.receiptSecret,
                ReceiptSignature.isMetas(
                    call.request.headers["X-Hub-Signature-256"] ?? "", of: call.request.body,
                    secret: secret)
            else { throw Self.forged }
            // Meta tells of all that the number sends, also of what others had it send.
            try await call.record(
                GatewayReceipt.meta(call.body).map { ($0.mail, $0.receipt) }, channel)
        case .webhook:
            guard let secret = gateway.secret,
                ReceiptSignature.isBearer(
                    call.request.headers["Authorization"] ?? "", secret: secret)
            else { throw Self.forged }
            guard let mail = call.body["id"]?.string.flatMap({ UUID($0) }) else {
                throw Problem(.noSuchMail)
            }
            try await call.record([(mail, GatewayReceipt.webhook(call.body)?.receipt)], channel)
        }
        return Response(status: .noContent)
    }

    private static let asked = Route<RealmContext>(
        .get, "/api/messages/receipts/{channel}", id: "confirmMessageReceipts", tag: "Messages",
        summary: "Tells Meta that receipts are to come here.",
        detail: "Where `hub.verify_token` is that of the gateway.", right: .nothing,
        voice: .receipts,
        parameters: [
            channel,
            Parameter(
                "hub.mode", in: .query, .text(0...40),
                "Mode of the verification request; always `subscribe`."),
            Parameter(
                "hub.verify_token", in: .query, .text(0...1_000), "Verify token of the gateway."),
            Parameter(
                "hub.challenge", in: .query, .text(0...200), "Challenge that is returned unchanged."
            ),
        ],
        answer: Answer(
            status: .ok, description: "The challenge.", content: .text("text/plain; charset=utf-8")),
        refusals: refusals
    ) { call throws(Problem) in
        let (_, gateway) = try await call.receiptGateway()
        guard call.text("hub.mode") == "subscribe", let token = gateway.verifyToken,
            ReceiptSignature.isEqual(call.text("hub.verify_token") ?? "", token)
        else { throw Self.forged }
        return .text(.ok, "text/plain; charset=utf-8", call.text("hub.challenge") ?? "")
    }

    private static let forged = Problem(
        .forbidden, "This does not come from the gateway of this realm and channel.")
}

extension Call<RealmContext> {
    /// The gateway that the path names. The rate limit counts before any look-up.
    fileprivate func receiptGateway() async throws(Problem) -> (Channel, MessageGateway) {
        try RateCounter(self).count(.messageReceipt)
        guard let channel = Channel(rawValue: try required("channel")),
            let gateway = try await RealmLookups(context).folded(
                MessageGateways.self, MessageGateways.stream
            ).byChannel[channel]
        else { throw Problem(.noSuchMessageGateway) }
        return (channel, gateway)
    }

    /// What an address of this realm that a gateway was told may begin with.
    fileprivate var receiptAddresses: [String] {
        let base = ReceiptAddress.base(context.place.settings).map {
            String($0.dropLast(ReceiptAddress.path.utf8.count))
        }
        return [base, context.place.links, "https://\(context.place.host)"].compactMap { $0 }
    }

    /// Refuses a receipt of which no message is known; of several those that are known count.
    fileprivate func record(
        _ said: [(mail: UUID, receipt: MessageReceipt?)], _ channel: Channel
    ) async throws(Problem) {
        var isKnown = said.isEmpty
        for (mail, receipt) in said {
            guard let receipt else {
                isKnown =
                    try await RealmLookups(context).folded(Mail.self, mail).isMessage || isKnown
                continue
            }
            let refusal = try await Commands(self).attempt(
                MailChange.recordReceipt(mail, channel: channel, receipt: receipt),
                as: .init("gateway:\(channel.rawValue)"))
            switch refusal {
            case nil: isKnown = true
            case .unknown: break
            }
        }
        guard isKnown else { throw Problem(.noSuchMail) }
    }
}
