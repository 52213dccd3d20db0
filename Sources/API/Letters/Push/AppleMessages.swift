internal import Cryptography
internal import Identity
internal import JOSE
internal import JSON
internal import Values

/// The Apple Push Notification service, with tokens of the provider.
struct AppleMessages: Sendable {
    let provider: AppleProvider

    /// Apple takes one for an hour, and no other within twenty minutes.
    static let tokenLifetime: Int64 = 40 * 60

    func token(now: Timestamp) -> String? {
        guard
            let key = PushKey.open(
                provider.privateKey, named: provider.keyID, for: .es256)
        else { return nil }
        let claims: JSON = ["iss": .string(provider.team), "iat": .integer(now.seconds)]
        return try? JWS.sign(claims.canonical(), by: key, type: "JWT")
    }

    /// Nil for a token that no device can have: it would lead to another place of the provider.
    func call(_ message: PushMessage, to device: PushDevice, token: String) -> ProviderCall? {
        guard (2...200).contains(device.token.utf8.count),
            device.token.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x41...0x46).contains($0)
                    || (0x61...0x66).contains($0)
            })
        else { return nil }
        let body = message.fitting { text in
            var members = message.members.filter { $0.key != "aps" && !$0.key.isEmpty }
            members["notification_id"] = .string(message.id.description)
            var alert: JSONObject = ["title": .string(message.title)]
            if !text.isEmpty { alert["body"] = .string(text) }
            members["aps"] = ["alert": .object(alert), "sound": "default"]
            return .object(members)
        }
        let headers: [(name: String, value: String)] = [
            ("Authorization", "bearer \(token)"), ("Content-Type", "application/json"),
            ("apns-topic", provider.topic), ("apns-push-type", "alert"),
            ("apns-priority", message.isUrgent ? "10" : "5"),
            ("apns-expiration", String(message.expiresAt.seconds)),
            ("apns-collapse-id", message.shownAs),
            ("apns-id", Self.name(of: message, on: device)),
        ]
        return ProviderCall(
            address: "\(provider.address.trimmed)/3/device/\(device.token)", headers: headers,
            body: body)
    }

    /// The id of a message on a device, the same in every retry.
    private static func name(of message: PushMessage, on device: PushDevice) -> String {
        UUID.v8(SHA256.hash(message.id.bytes + Array(device.token.utf8))).description
    }

    static func verdict(_ answer: ProviderAnswer) -> PushVerdict {
        guard case .answered(let status, let body, let pause) = answer else {
            return answer.isForbidden ? .refused(code: 0) : .later(code: 0, after: nil)
        }
        switch status {
        case 200: return .taken
        case 400 where reason(body) == "BadDeviceToken": return .gone(code: status)
        case 410 where ["Unregistered", "ExpiredToken"].contains(reason(body)):
            return .gone(code: status)
        case 429, 500...599: return .later(code: status, after: pause)
        default: return .refused(code: status)
        }
    }

    /// Whether another provider token would help.
    static func isExpiredToken(_ answer: ProviderAnswer) -> Bool {
        guard case .answered(403, let body, _) = answer else { return false }
        return reason(body) == "ExpiredProviderToken"
    }

    private static func reason(_ body: [UInt8]) -> String {
        (try? JSON.parse(body, limits: .foreign))?["reason"]?.string ?? ""
    }
}
