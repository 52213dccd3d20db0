public import EventSourcing
public import Values

/// Who carries a realm's messages to phones.
public struct MessageGateways: StreamState {
    public private(set) var byChannel: [Channel: MessageGateway] = [:]

    /// The same in every realm, so that it needs no look-up.
    public static let stream = UUID(high: 0x7572_6400_0000_8000, low: 0x8000_0000_0000_0011)

    public init() {}

    public mutating func apply(_ event: MessageGatewayEvent) {
        switch event {
        case .set(let channel, let gateway): byChannel[channel] = gateway
        case .removed(let channel): byChannel[channel] = nil
        }
    }
}

/// Whom messages are handed to, and what it knows the realm by.
public struct MessageGateway: Sendable, Equatable {
    public enum Kind: String, CaseIterable, Sendable {
        /// A service of the realm's own, which is sent JSON.
        case webhook
        /// The Messages API of Twilio, or what speaks like it.
        case twilio
        /// The Cloud API of WhatsApp, or what speaks like it.
        case whatsappCloud = "whatsapp_cloud"

        /// The default URL of the gateway.
        public var usualAddress: String? {
            switch self {
            case .webhook: nil
            case .twilio: "https://api.twilio.com"
            case .whatsappCloud: "https://graph.facebook.com"
            }
        }
    }

    public var kind: Kind
    public var address: String
    /// What the realm is called there: the account of Twilio, the phone number's id of WhatsApp.
    public var account: String?
    /// Where messages come from: a number, a sender's name, or a messaging service of Twilio.
    public var sender: String?
    /// The template that WhatsApp demands for what it did not ask for: its name, or its content's id at Twilio.
    public var template: String?
    /// Nil where the secret cannot be decrypted any more.
    public var secret: String?
    /// What Meta signs delivery receipts with: the secret of the app.
    public var receiptSecret: String?
    /// What Meta shows when it asks whether receipts are to come.
    public var verifyToken: String?

    /// Whether what it says of messages can be told from what others say.
    public var signsReceipts: Bool {
        kind == .whatsappCloud ? receiptSecret != nil : secret != nil
    }

    public init(
        kind: Kind, address: String, account: String? = nil, sender: String? = nil,
        template: String? = nil, secret: String?, receiptSecret: String? = nil,
        verifyToken: String? = nil
    ) {
        self.kind = kind
        self.address = address
        self.account = account
        self.sender = sender
        self.template = template
        self.secret = secret
        self.receiptSecret = receiptSecret
        self.verifyToken = verifyToken
    }
}
