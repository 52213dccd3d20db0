import EventSourcing
import HTTP
import HTTPClient
import Identity
import JOSE
import JSON
import Values

/// What a webhook is sent: the same id and body with each attempt.
struct WebhookMessage: Sendable {
    let id: String
    let body: [UInt8]
    let isReplay: Bool

    init(_ event: Recorded, epoch: Int, isReplay: Bool) {
        id = event.id.description
        self.isReplay = isReplay
        let fields = event.shownFields
        var data: JSONObject = [
            "id": .string(id),
            "cursor": .string(
                LogCursor(epoch: epoch, position: event.position).description),
            "realm": .string(event.realm.name), "position": .integer(event.position),
            "stream": .string(event.stream.description),
            "version": .integer(Int64(event.version)), "actor": .string(event.actor),
            "fields": .object(fields),
        ]
        let isAccount = event.name.utf8.starts(with: "account.".utf8)
        data["account"] = isAccount ? .string(event.stream.description) : fields["account"]
        data["client"] = event.client.map { .string($0) }
        data["correlation"] = event.correlation.map { .string($0) }
        let message: JSON = [
            "type": .string(event.name), "timestamp": .string(event.at.description),
            "data": .object(data),
        ]
        body = message.canonical()
    }

    /// Of what is in no log: a test, or that the log went back.
    init(id: String, type: String, at now: Timestamp, data: JSONObject) {
        self.id = id
        isReplay = false
        let message: JSON = [
            "type": .string(type), "timestamp": .string(now.description), "data": .object(data),
        ]
        body = message.canonical()
    }

    /// An attempt at a time, signed with each secret that is in force then. Nil where there is none.
    func request(_ subscription: Subscription, at now: Timestamp) throws -> OutgoingRequest? {
        let secrets = subscription.secrets(at: now)
        guard !secrets.isEmpty else { return nil }
        let signatures = try secrets.map { secret in
            let key =
                subscription.terms.signature == .both
                ? try WebhookKey.read(secret.seed) : nil
            return try WebhookSignature(secret: secret.shared, key: key)
                .sign(id: id, timestamp: now.seconds, body: body)
        }
        var request = OutgoingRequest(
            method: .post, url: subscription.terms.url, body: body)
        for (name, value) in subscription.terms.headers { request.headers[name] = value }
        request.headers["Content-Type"] = "application/json"
        request.headers["webhook-id"] = id
        request.headers["webhook-timestamp"] = "\(now.seconds)"
        request.headers["webhook-signature"] = signatures.joined(separator: " ")
        if isReplay { request.headers["urd-replay"] = "true" }
        return request
    }
}
