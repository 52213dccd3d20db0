internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// A message in the words of a gateway.
struct GatewayCall {
    let gateway: MessageGateway
    let channel: Channel
    let letter: Letter
    /// By which a gateway knows a message that it is asked twice to take.
    let id: UUID

    /// Nil where the secret cannot be opened any more.
    func request() -> ProviderCall? {
        guard let secret = gateway.secret else { return nil }
        var call: ProviderCall? =
            switch gateway.kind {
            case .webhook: webhook(secret)
            case .twilio: twilio(secret)
            case .whatsappCloud: whatsApp(secret)
            }
        call?.isSentOnce = true
        return call
    }

    private func webhook(_ secret: String) -> ProviderCall {
        var body: JSONObject = [
            "id": .string(id.description), "realm": .string(letter.realm.name),
            "channel": .string(channel.rawValue), "to": .string(letter.to),
            "text": .string(letter.text), "language": .string(letter.language),
        ]
        body["code"] = letter.code.map { .string($0) }
        body["receipts"] = letter.receipts.map { .string("\($0)/\(channel.rawValue)") }
        body["expires_at"] = letter.deadline.map { .string($0.description) }
        return json(body, at: gateway.address, "Bearer \(secret)")
    }

    /// https://www.twilio.com/docs/messaging/api/message-resource
    private func twilio(_ secret: String) -> ProviderCall? {
        let (account, sender) = (gateway.account ?? "", gateway.sender ?? "")
        var form: [(String, String)] = [("To", number)]
        // A messaging service has its numbers itself.
        form.append(
            sender.utf8.starts(with: "MG".utf8) && sender.utf8.count == 34
                ? ("MessagingServiceSid", sender)
                : ("From", channel == .whatsapp ? "whatsapp:\(sender)" : sender))
        if channel == .whatsapp, let template = gateway.template {
            guard let digits = letter.code else { return nil }
            let variables: JSON = ["1": .string(digits)]
            form.append(("ContentSid", template))
            form.append(
                ("ContentVariables", String(decoding: variables.canonical(), as: UTF8.self)))
        } else {
            form.append(("Body", letter.text))
        }
        if let base = letter.receipts {
            form.append(("StatusCallback", ReceiptAddress.of(id, by: channel, at: base)))
        }
        let credentials = Base64.encode(Array("\(account):\(secret)".utf8))
        return ProviderCall(
            address: "\(gateway.address)/2010-04-01/Accounts/\(account)/Messages.json",
            headers: [
                ("Authorization", "Basic \(credentials)"),
                ("Content-Type", "application/x-www-form-urlencoded"),
                ("Accept", "application/json"),
            ], body: Array(Form.encode(form).utf8))
    }

    private var number: String { channel == .whatsapp ? "whatsapp:\(letter.to)" : letter.to }

    /// https://developers.facebook.com/docs/whatsapp/cloud-api: a template of the kind `authentication`, whose
    /// button copies the code.
    private func whatsApp(_ secret: String) -> ProviderCall? {
        // Such a template takes digits and no link: another channel may bring that.
        guard let digits = letter.code else { return nil }
        let code: JSON = ["type": "text", "text": .string(digits)]
        let body: JSONObject = [
            // Receipts have it again.
            "biz_opaque_callback_data": .string(id.description),
            "messaging_product": "whatsapp", "recipient_type": "individual",
            "to": .string(String(letter.to.dropFirst())), "type": "template",
            "template": [
                "name": .string(gateway.template ?? ""),
                "language": ["code": .string(letter.language)],
                "components": [
                    ["type": "body", "parameters": [code]],
                    ["type": "button", "sub_type": "url", "index": "0", "parameters": [code]],
                ],
            ],
        ]
        return json(
            body, at: "\(gateway.address)/v21.0/\(gateway.account ?? "")/messages",
            "Bearer \(secret)")
    }

    private func json(
        _ body: JSONObject, at address: String, _ authorization: String
    ) -> ProviderCall {
        ProviderCall(
            address: address,
            headers: [
                ("Authorization", authorization), ("Content-Type", "application/json"),
                ("Accept", "application/json"), ("Idempotency-Key", id.description),
            ], body: JSON.object(body).canonical())
    }
}

/// What came of handing a message to a gateway.
enum GatewayVerdict: Equatable {
    case taken
    /// The gateway refused the message for good: another gateway may accept it.
    case refused(code: Int, MailFault)
    /// The gateway did not accept the message now.
    case later(code: Int, MailFault)
    /// The gateway may have accepted the message: no other gateway sends it.
    case unknown(code: Int)

    init(_ answer: ProviderAnswer) {
        self =
            switch answer {
            case .answered(let status, _, _):
                switch status {
                case 200..<300: .taken
                case 401, 403: .refused(code: status, .loginRefused)
                case 429, 503: .later(code: status, .refused)
                // A gateway that failed may have failed behind the message.
                case 500...: .unknown(code: status)
                default: .refused(code: status, .refused)
                }
            case .unreachable: .later(code: 0, .notConnected)
            case .unanswered: .unknown(code: 0)
            case .forbidden: .refused(code: 0, .hostNotFound)
            }
    }
}
