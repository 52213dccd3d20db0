internal import Identity
public import JSON
public import Values

/// What a device is to show.
public struct PushMessage: Sendable, Equatable {
    public var title: String
    public var body: String
    /// For the app, by name.
    public var members: JSONObject
    public var isUrgent: Bool
    /// A later message with the same takes the place of this one, also before it reached the device.
    public var collapse: String?
    /// A device shows messages of the same name once: where it is unknown whether a provider took a
    /// message, it is sent again.
    public var shownAs: String { collapse ?? id.description }
    /// After this the message is of no use to the user.
    public var expiresAt: Timestamp
    public var id: UUID

    /// Seconds for which a device that is off may miss it.
    static let lifetime: Int64 = 7 * 86_400
    /// Of what providers take, headers apart.
    static let limit = 4_096
    private static let longestName = 60

    init(_ id: UUID, _ terms: NotificationTerms, _ content: NotificationContent, now: Timestamp) {
        self.id = id
        title = PushMessage.line(content.title)
        body = PushMessage.text(content.message)
        members = content.members
        isUrgent = terms.priority == .high
        // It names nothing: streams of sources follow under the realm's key.
        collapse = terms.isCollapsible ? terms.source.description : nil
        expiresAt = now.adding(seconds: Self.lifetime)
    }

    /// As the one app that has everything shows it: it says whose news it is, unless the sender says
    /// that nothing is to be said.
    func amongOthers(_ terms: NotificationTerms) -> PushMessage {
        var message = self
        let name = members["appName"]?.string ?? terms.slug ?? ""
        let shown = String(PushMessage.line(name).unicodeScalars.prefix(Self.longestName))
        if !shown.isEmpty { message.title = "\(shown) - \(title)" }
        return message
    }

    /// What this says as bytes that are within the limit, with less of its text where it must be. Some of
    /// the bytes may not count.
    func fitting(
        besides uncounted: Int = 0, _ compose: (_ body: String) -> JSON
    ) -> [UInt8] {
        let limit = Self.limit + uncounted
        var shown = Array(body.unicodeScalars)
        var bytes = compose(body).canonical()
        while bytes.count > limit, !shown.isEmpty {
            shown.removeLast(min(shown.count, max(1, (bytes.count - limit) / 4)))
            var text = String.UnicodeScalarView()
            text.append(contentsOf: shown)
            bytes = compose(String(text) + "…").canonical()
        }
        return bytes
    }

    /// What could break a line, hide text or turn it around falls out.
    static func line(_ text: String) -> String { cleaned(text) { $0 == 0x0A ? 0x20 : nil } }

    static func text(_ text: String) -> String { cleaned(text) { $0 == 0x0A ? 0x0A : nil } }

    private static func cleaned(_ text: String, keeping newline: (UInt32) -> UInt32?) -> String {
        var output = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0A, 0x09, 0x2028, 0x2029:
                let kept = newline(scalar.value == 0x09 ? 0x20 : 0x0A) ?? 0x20
                output.append(Unicode.Scalar(UInt8(truncatingIfNeeded: kept)))
            case 0...0x1F, 0x7F...0x9F, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF:
                continue
            default: output.append(scalar)
            }
        }
        return String(output)
    }
}

/// A device that may be told of something.
struct PushDevice: Sendable, Equatable {
    let client: UUID
    let token: String
    let kind: PushProvider.Kind

    /// Nil where no provider could reach the device.
    init?(_ id: UUID, _ metadata: ClientMetadata) {
        guard let token = metadata.notificationToken, !token.isEmpty else { return nil }
        switch metadata.notificationPlatform {
        // Apps that say `ios` have a token of Firebase.
        case "firebase", "android", "ios": kind = .firebase
        case "apns": kind = .apple
        default: return nil
        }
        client = id
        self.token = token
    }
}

/// What a provider's answer means for a device.
enum PushVerdict: Sendable, Equatable {
    case taken
    /// The device does not exist any more.
    case gone(code: Int)
    /// The provider refused the message: a retry would not help.
    case refused(code: Int)
    /// It may go later, after so many seconds where the provider says how many.
    case later(code: Int, after: Int64?)
}

/// A request to a provider, over any transport.
public struct ProviderCall: Sendable, Equatable {
    public var address: String
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    /// Whether a duplicate would be shown or paid for twice.
    public var isSentOnce = false

    public static func == (left: ProviderCall, right: ProviderCall) -> Bool {
        left.address == right.address && left.body == right.body
            && left.isSentOnce == right.isSentOnce
            && left.headers.elementsEqual(right.headers) { $0 == $1 }
    }
}

public enum ProviderAnswer: Sendable {
    case answered(status: Int, body: [UInt8], retryAfter: Int64?)
    /// No connection: the message was not sent.
    case unreachable
    /// No response came: it is unknown whether the provider accepted the message.
    case unanswered
    /// No request may go to the address, or it is none.
    case forbidden
}

/// Carries a request to a provider.
public typealias ProviderTransport = @Sendable (ProviderCall) async -> ProviderAnswer
