internal import Identity
internal import JSON
internal import Values

/// What a gateway says of one message. Nil stands for what is of no interest: that it is on its way.
struct GatewayReceipt: Equatable {
    let mail: UUID
    let receipt: MessageReceipt

    /// Of Twilio's states: https://www.twilio.com/docs/messaging/api/message-resource#message-status-values
    static func twilio(_ status: String, _ code: String?) -> MessageReceipt? {
        switch status {
        case "delivered", "read": .delivered
        case "undelivered", "failed", "canceled": .undelivered(code: code.flatMap(Self.code))
        default: nil
        }
    }

    /// Of the statuses in what Meta sends, those of messages that were sent from here.
    static func meta(_ body: JSON) -> [GatewayReceipt] {
        let changes = (body["entry"]?.array ?? []).flatMap { $0["changes"]?.array ?? [] }
        return changes.flatMap { $0["value"]?["statuses"]?.array ?? [] }.compactMap { status in
            guard let mail = status["biz_opaque_callback_data"]?.string.flatMap({ UUID($0) })
            else { return nil }
            switch status["status"]?.string {
            case "delivered", "read": return GatewayReceipt(mail: mail, receipt: .delivered)
            case "failed":
                let code = status["errors"]?.array?.first?["code"]
                return GatewayReceipt(
                    mail: mail,
                    receipt: .undelivered(
                        code: (code?.integer.map { String($0) } ?? code?.string)
                            .flatMap(Self.code)))
            default: return nil
            }
        }
    }

    /// What a webhook's gateway sends.
    static func webhook(_ body: JSON) -> GatewayReceipt? {
        guard let mail = body["id"]?.string.flatMap({ UUID($0) }) else { return nil }
        let code = body["code"].flatMap { $0.string ?? $0.integer.map { String($0) } }
        switch body["status"]?.string {
        case "delivered": return GatewayReceipt(mail: mail, receipt: .delivered)
        case "failed":
            return GatewayReceipt(
                mail: mail, receipt: .undelivered(code: code.flatMap(Self.code)))
        default: return nil
        }
    }

    /// It stands in the log as it is: a word, and no text that might name a person.
    private static func code(_ text: String) -> String? {
        let isWord = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                || (0x61...0x7A).contains($0) || [0x2D, 0x2E, 0x5F].contains($0)
        }
        return (1...40).contains(text.utf8.count) && isWord ? text : nil
    }
}
