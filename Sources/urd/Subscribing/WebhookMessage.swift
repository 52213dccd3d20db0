import API
import Cryptography
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
    let type: String
    let body: WebhookBody
    var isReplay = false

    /// Of what is in no log: a test, or that the log went back.
    init(id: String, type: String, at now: Timestamp, data: JSONObject) {
        self.id = id
        self.type = type
        body = WebhookBody(type: type, at: now, data: data)
    }

    /// Of a test with what an event would look like.
    init(id: String, _ example: WebhookExample, terms: SubscriptionTerms) {
        self.id = id
        type = example.event.name
        body = WebhookBody(testing: example, terms: terms, version: API.version)
    }

    /// - Parameter stream: what happened in the event's stream, where its form asks for that.
    init(
        _ event: Recorded, epoch: Int, issuer: String, terms: SubscriptionTerms,
        stream: [Recorded], isReplay: Bool
    ) {
        id = event.id.description
        type = event.name
        body = WebhookBody(
            event, epoch: epoch, issuer: issuer, terms: terms, stream: stream,
            version: API.version)
        self.isReplay = isReplay
    }

    /// An attempt at a time, signed with each secret and key that is in force then. Nil where there is no
    /// secret.
    func request(
        _ subscription: Subscription, keys: [Ed25519.PrivateKey], at now: Timestamp
    ) throws -> OutgoingRequest? {
        let secrets = subscription.secrets(at: now)
        guard !secrets.isEmpty else { return nil }
        let signature = try WebhookSignature(secrets: secrets.map(\.shared), keys: keys)
            .sign(id: id, timestamp: now.seconds, body: body.bytes)
        var request = OutgoingRequest(
            method: .post, url: subscription.terms.url, body: body.bytes)
        for (name, value) in subscription.terms.headers { request.headers[name] = value }
        request.headers["Content-Type"] = body.contentType
        request.headers["webhook-id"] = id
        request.headers["webhook-timestamp"] = "\(now.seconds)"
        request.headers["webhook-signature"] = signature
        if isReplay { request.headers["urd-replay"] = "true" }
        return request
    }
}
