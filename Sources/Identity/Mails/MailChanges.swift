package import EventSourcing
package import Values

/// What a gateway says of a message that it took.
public enum MessageReceipt: Equatable, Sendable {
    case delivered
    /// In the gateway's code, if it has one.
    case undelivered(code: String?)
}

/// The changes of a mail.
package enum MailChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<Versioned<Mail>, Rejection>

    package enum RecordReceiptRejection: Error, Equatable, Sendable {
        /// No gateway of the realm was handed such a message.
        case unknown
    }

    /// Puts on record what a gateway says of a message: each thing once, and nothing once the phone has it.
    package static func recordReceipt(_ mail: UUID, channel: Channel, receipt: MessageReceipt)
        -> Change<RecordReceiptRejection>
    {
        Change(of: mail) { facts throws(RecordReceiptRejection) in
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

    package enum RequeueRejection: Error, Equatable, Sendable {
        case notFound
        case notFailed
    }

    /// Has a mail that failed tried again.
    package static func requeue(_ mail: UUID) -> Change<RequeueRejection> {
        Change(of: mail) { facts throws(RequeueRejection) in
            guard facts.exists else { throw .notFound }
            guard facts.state.status == .failed else { throw .notFailed }
            return Decision(MailEvent.requeued, in: mail)
        }
    }
}
