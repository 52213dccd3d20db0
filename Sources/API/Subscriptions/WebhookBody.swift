public import EventSourcing
public import Identity
public import JSON
public import Values

/// What a message of a webhook says, in the form that its terms ask for: the same envelope as the feed's.
public struct WebhookBody: Sendable {
    public let contentType: String
    public let bytes: [UInt8]

    /// What Standard Webhooks recommends at most. Fields that make a body longer are left out.
    static let limit = 20_000

    /// - Parameters:
    ///   - stream: what happened in the event's stream, where records of OCSF are asked for.
    ///   - version: of Urd.
    public init(
        _ event: Recorded, epoch: Int, issuer: String, terms: SubscriptionTerms,
        stream: [Recorded] = [], version: String
    ) {
        let envelope = EventEnvelope(
            event, epoch: epoch, issuer: issuer, showsPersonal: terms.includesPersonal)
        let facts = OCSFFacts(of: event, in: stream)
        let form = Form(format: terms.format, facts: facts, version: version)
        let whole = form.bytes(of: envelope)
        bytes = whole.count > Self.limit ? form.bytes(of: envelope.truncated) : whole
        contentType =
            switch terms.format {
            case .standard, .ocsf: "application/json"
            case .cloudEvents: CloudEvent.mediaType
            }
    }

    /// Of what is in no log: a test, or that the log went back.
    public init(type: String, at now: Timestamp, data: JSONObject) {
        contentType = "application/json"
        let message: JSON = [
            "type": .string(type), "timestamp": .string(now.description), "data": .object(data),
        ]
        bytes = message.canonical()
    }

    /// Of an event that never happened, in the form of the webhook: `data.test` says so, and where records of OCSF are
    /// asked for the id of the message does.
    public init(testing example: WebhookExample, terms: SubscriptionTerms, version: String) {
        let body = WebhookBody(
            example.event, epoch: example.epoch, issuer: example.issuer, terms: terms,
            version: version)
        contentType = body.contentType
        guard terms.format != .ocsf, var message = try? JSON.parse(body.bytes).object else {
            bytes = body.bytes
            return
        }
        var data = message["data"]?.object ?? [:]
        data["test"] = true
        message["data"] = .object(data)
        bytes = JSON.object(message).canonical()
    }

    private struct Form {
        let format: SubscriptionTerms.Format
        let facts: OCSFFacts
        let version: String

        func bytes(of envelope: EventEnvelope) -> [UInt8] {
            switch format {
            case .standard:
                Self.standard(envelope.event.name, at: envelope.event.at) {
                    envelope.describe(to: &$0)
                }
            case .cloudEvents: CloudEvent(envelope).json.canonical()
            case .ocsf:
                JSON.array(OCSFEvent(envelope, knowing: facts, version: version).records())
                    .canonical()
            }
        }

        static func standard(
            _ type: String, at time: Timestamp, data: (inout WrittenMembers) -> Void
        ) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(1024)
            WrittenMembers.write(into: &bytes) { message in
                message.add("data", data)
                message.add("timestamp", time.description)
                message.add("type", type)
            }
            return bytes
        }
    }
}
