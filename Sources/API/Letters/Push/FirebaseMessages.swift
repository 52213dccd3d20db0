internal import Cryptography
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import Values

/// Firebase Cloud Messaging, HTTP v1.
struct FirebaseMessages: Sendable {
    let provider: FirebaseProvider

    private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    /// What is shown for an access token (RFC 7523): an assertion of the service account.
    func tokenCall(now: Timestamp) -> ProviderCall? {
        guard
            let key = PushKey.open(
                provider.privateKey, named: provider.keyID, for: .rs256)
        else { return nil }
        let claims: JSON = [
            "iss": .string(provider.email), "scope": .string(Self.scope),
            "aud": .string(provider.tokenAddress), "iat": .integer(now.seconds),
            "exp": .integer(now.seconds + 3_600),
        ]
        guard let assertion = try? JWS.sign(claims.canonical(), by: key, type: "JWT") else {
            return nil
        }
        let form = Form.encode([
            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
            ("assertion", assertion),
        ])
        return ProviderCall(
            address: provider.tokenAddress,
            headers: [
                ("Content-Type", "application/x-www-form-urlencoded"),
                ("Accept", "application/json"),
            ], body: Array(form.utf8))
    }

    /// The token in an answer, and for how many seconds it is good.
    static func token(in body: [UInt8]) -> (text: String, seconds: Int64)? {
        guard let answer = try? JSON.parse(body, limits: .foreign),
            let text = answer["access_token"]?.string,
            (1...4_096).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            (answer["token_type"]?.string ?? "Bearer").lowercased() == "bearer"
        else { return nil }
        return (text, min(max(answer["expires_in"]?.integer ?? 3_600, 0), 86_400))
    }

    func call(_ message: PushMessage, to device: PushDevice, token: String) -> ProviderCall {
        let body = message.fitting(besides: device.token.utf8.count) { text in
            var android: JSONObject = [
                "priority": message.isUrgent ? "HIGH" : "NORMAL",
                "ttl": .string("\(PushMessage.lifetime)s"),
                "notification": ["tag": .string(message.shownAs)],
            ]
            // For a device that is off Firebase keeps four of them: only what may be lost has one.
            if let collapse = message.collapse { android["collapse_key"] = .string(collapse) }
            return [
                "message": [
                    "token": .string(device.token),
                    "notification": ["title": .string(message.title), "body": .string(text)],
                    "data": .object(Self.strings(message)), "android": .object(android),
                    "apns": ["headers": ["apns-collapse-id": .string(message.shownAs)]],
                ]
            ]
        }
        return ProviderCall(
            address: "\(provider.address.trimmed)/v1/projects/\(provider.project)/messages:send",
            headers: [
                ("Authorization", "Bearer \(token)"), ("Content-Type", "application/json"),
                ("Accept", "application/json"),
            ], body: body)
    }

    /// Firebase carries texts alone, and keeps some names for itself.
    private static func strings(_ message: PushMessage) -> JSONObject {
        var strings: JSONObject = ["notification_id": .string(message.id.description)]
        for (name, value) in message.members where !isReserved(name) {
            let text = value.string ?? String(decoding: value.canonical(), as: UTF8.self)
            strings[name] = .string(text)
        }
        return strings
    }

    private static func isReserved(_ name: String) -> Bool {
        ["from", "message_type", "notification_id", ""].contains(name)
            || name.hasPrefix("google") || name.hasPrefix("gcm")
    }

    static func verdict(_ answer: ProviderAnswer) -> PushVerdict {
        guard case .answered(let status, let body, let pause) = answer else {
            return answer.isForbidden ? .refused(code: 0) : .later(code: 0, after: nil)
        }
        switch status {
        case 200: return .taken
        // A wrong address or project is not found either, and takes no device away.
        case 404: return isUnregistered(body) ? .gone(code: status) : .refused(code: status)
        case 429, 500...599: return .later(code: status, after: pause)
        default: return .refused(code: status)
        }
    }

    private static func isUnregistered(_ body: [UInt8]) -> Bool {
        let details = (try? JSON.parse(body, limits: .foreign))?["error"]?["details"]?.array ?? []
        return details.contains { $0["errorCode"] == "UNREGISTERED" }
    }
}

extension ProviderAnswer {
    var isForbidden: Bool {
        switch self {
        case .forbidden: true
        case .answered, .unreachable, .unanswered: false
        }
    }
}

extension String {
    /// An address without a slash at its end.
    var trimmed: String {
        var bytes = Array(utf8)
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
