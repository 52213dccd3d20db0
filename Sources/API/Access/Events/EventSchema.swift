internal import EventSourcing
internal import Identity
internal import JSON

/// The JSON Schema (2020-12) of what the events of one type and revision say in `data`. It is made from the
/// catalogue: fields that never leave are not in it.
enum EventSchema {
    static let mediaType = "application/schema+json"
    static let dialect = "https://json-schema.org/draft/2020-12/schema"
    static let envelopePath = "/schemas/events/envelope"

    static func path(of type: String, revision: Int) -> String {
        "/schemas/events/\(type)/\(revision)"
    }

    /// The whole document, which names itself by its path.
    static func document(of shape: EventShape) -> JSON {
        var document = body(of: shape)
        document["$schema"] = .string(dialect)
        document["$id"] = .string(path(of: shape.name, revision: shape.revision))
        return .object(document)
    }

    /// The same without what only a document of its own has.
    static func body(of shape: EventShape) -> JSONObject {
        let shown = (shape.fields + EventField.origin).filter(\.isShown)
        let required = shown.filter { $0.isRequired && $0.visibility == .open }
        return [
            "title": .string(shape.name), "description": .string(shape.sentence),
            "type": "object", "additionalProperties": false,
            "properties": .object(JSONObject(shown.map { ($0.name, .object($0.schema)) })),
            "required": .array(required.map { .string($0.name) }),
            "x-urd-revision": .integer(Int64(shape.revision)),
            "x-urd-to": .string(shape.reach.letter),
        ]
    }

    /// The document at `/schemas/events/envelope`.
    static let envelope: JSON = {
        var document = EventEnvelope.schema.resolved.document.object ?? [:]
        document["$schema"] = .string(dialect)
        document["$id"] = .string(envelopePath)
        document["title"] = "event"
        // Members may be added: a receiver ignores those that it does not know.
        document["additionalProperties"] = nil
        document["description"] = "An event as feeds, webhooks and exports send it."
        return .object(document)
    }()
}

extension EventField {
    fileprivate var isShown: Bool {
        switch visibility {
        case .open, .personal: true
        case .neverLeaves: false
        }
    }

    fileprivate var schema: JSONObject {
        var schema = type.schema
        schema["description"] = .string(sentence)
        schema["x-urd-visibility"] = visibility == .open ? "open" : "personal"
        return schema
    }
}

extension EventReach {
    /// As the catalogue's documents abbreviate it.
    var letter: String {
        switch self {
        case .services: "S"
        case .audit: "A"
        case .internal: "I"
        }
    }
}
