internal import EventSourcing
internal import JSON
internal import Values

/// An event in the structured mode of CloudEvents 1.0, of media type `application/cloudevents+json`.
struct CloudEvent: Sendable {
    static let mediaType = "application/cloudevents+json"
    /// Of an array of them.
    static let batchMediaType = "application/cloudevents-batch+json"
    /// What types begin with, unless the realm says otherwise: a name in reversed DNS.
    static let typePrefix = "dev.urd."

    private let envelope: EventEnvelope
    private let typePrefix: String

    init(_ envelope: EventEnvelope, typePrefix: String = Self.typePrefix) {
        self.envelope = envelope
        self.typePrefix = typePrefix
    }

    /// Never empty, which CloudEvents does not allow.
    private var source: String {
        envelope.issuer.isEmpty ? "urn:urd:realm:\(envelope.event.realm)" : envelope.issuer
    }

    /// All attributes but the data, which in binary mode are headers. Integers of CloudEvents have 32 bits,
    /// so that positions are texts.
    var attributes: JSONObject {
        let event = envelope.event
        var attributes: JSONObject = [
            "specversion": "1.0", "id": .string(event.id.description),
            "source": .string(source), "type": .string(typePrefix + event.name),
            "subject": .string(event.stream.description), "time": .string(event.at.description),
            "datacontenttype": "application/json", "dataschema": .string(envelope.schema),
            // The extensions Sequence, Partitioning, Recorded Time and Auth Context.
            "sequence": .string(Self.sequence(event.position)),
            "partitionkey": .string(event.stream.description),
            "recordedtime": .string(event.at.description),
            // Our own.
            "urdrealm": .string(event.realm.name), "urdepoch": .integer(Int64(envelope.epoch)),
            "urdversion": .integer(Int64(event.version)),
            "urdleaf": .string(Base64URL.encode(event.leaf.bytes)),
            "urdpersonal": .string(envelope.personal.rawValue),
        ]
        let actor = EventActor(event.actor)
        attributes["authtype"] = .string(actor.kind.rawValue)
        attributes["authid"] = actor.id.map { .string($0) }
        attributes["urdsubject"] = event.subject.map { .string($0.description) }
        let trace = event.correlation.map(TraceReference.init)
        attributes["correlationid"] = trace.map { .string($0.id) }
        // The extension Distributed Tracing.
        attributes["traceparent"] = trace?.parent.map { .string($0) }
        return attributes
    }

    var json: JSON {
        var members = attributes
        members["data"] = .object(envelope.data)
        return .object(members)
    }

    /// Compares as a text as the position does as a number.
    static func sequence(_ position: Int64) -> String {
        let digits = String(position)
        return String(repeating: "0", count: max(0, 20 - digits.utf8.count)) + digits
    }
}
