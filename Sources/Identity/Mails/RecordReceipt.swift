public import EventSourcing
public import Values

/// What a gateway says of a message that it took.
public enum MessageReceipt: Equatable, Sendable {
    case delivered
    /// In the gateway's code, if it has one.
    case undelivered(code: String?)
}

/// Puts on record what a gateway says of a message: each thing once, and nothing once the phone has it.
public struct RecordReceipt: Command {
    public var mail: UUID
    public var channel: Channel
    public var receipt: MessageReceipt

    public init(mail: UUID, channel: Channel, receipt: MessageReceipt) {
        self.mail = mail
        self.channel = channel
        self.receipt = receipt
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// No gateway of the realm was handed such a message.
        case unknown
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Mail> {
        try await streams.read(Mail.self, mail)
    }

    public func decide(_ facts: Versioned<Mail>) throws(Rejection) -> Decision {
        guard facts.state.isMessage else { throw .unknown }
        switch (facts.state.receipt, receipt) {
        // Gateways repeat themselves, and in any order.
        case (.delivered, _), (.undelivered, .undelivered): return Decision()
        case (_, .delivered): return Decision(MailEvent.delivered(channel), in: mail)
        case (nil, .undelivered(let code)):
            return Decision(MailEvent.undelivered(channel, code: code), in: mail)
        }
    }
}
