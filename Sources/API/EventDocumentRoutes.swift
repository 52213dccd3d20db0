internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// What the events are, for programs: their schemas, and how they are delivered. All of it is made from the
/// catalogue, and the same for everybody.
enum EventDocumentRoutes {
    static let table: [Route<AdminContext>] = [asyncAPI, envelope, schema]

    private static let asyncAPI = Route<AdminContext>(
        .get, "/asyncapi.json", id: "getAsyncAPI", tag: "About",
        summary: "Describe the events and how they are delivered.", right: .nothing,
        answer: Answer(
            status: .ok, description: "An AsyncAPI 3.0 document.",
            content: .json(.openObject, example: ["asyncapi": "3.0.0"]), headers: caching)
    ) { _ throws(Problem) in
        answer(asyncAPIBytes, "application/json")
    }

    private static let envelope = Route<AdminContext>(
        .get, "/schemas/events/envelope", id: "getEventEnvelopeSchema",
        tag: "About", summary: "Show the JSON Schema of an event as it is delivered.",
        detail: "What its `data` holds has a schema for each type.", right: .nothing,
        answer: document
    ) { _ throws(Problem) in
        answer(envelopeBytes, EventSchema.mediaType)
    }

    private static let schema = Route<AdminContext>(
        .get, "/schemas/events/{type}/{revision}", id: "getEventSchema", tag: "About",
        summary: "Show the JSON Schema of the data of an event type.",
        detail: """
            Open fields that every event of the type has are required. Personal fields \
            (`x-urd-visibility`) are there only where the reader may open them, and gone once their \
            subject is erased.
            """,
        right: .nothing,
        parameters: [
            Parameter(
                "type", in: .path, .text(1...100, .some(Characters("a-z_."), 1...100)),
                "The event's type.", example: .string(SessionEvent.Form.ended.name)),
            Parameter(
                "revision", in: .path, .integer(1...10_000), "The revision of its shape.",
                example: 1),
        ],
        answer: document, refusals: [.noSuchEventType]
    ) { call throws(Problem) in
        let type = try call.required("type")
        let revision = try call.requiredInteger("revision")
        guard let bytes = schemas[EventSchema.path(of: type, revision: Int(revision))] else {
            throw unknown(type)
        }
        return answer(bytes, EventSchema.mediaType)
    }

    private static let document = Answer(
        status: .ok, description: "A JSON Schema (2020-12).",
        content: .bytes(EventSchema.mediaType), headers: caching)

    private static let caching = [
        (name: "Cache-Control", description: "The documents change only with the release.")
    ]

    private static func unknown(_ type: String) -> Problem {
        let known = EventCatalogue.all.map(\.name)
        return known.contains(type)
            ? Problem(
                .noSuchEventType, "'\(type)' has no such revision.", field: "revision")
            : Problem(
                .noSuchEventType,
                "There is no event type '\(type)'" + NearestName.hint(for: type, among: known),
                field: "type")
    }

    private static let asyncAPIBytes =
        AsyncAPI.document(title: "Urd", version: API.version).canonical()
    private static let envelopeBytes = EventSchema.envelope.canonical()
    private static let schemas: [String: [UInt8]] = Dictionary(
        uniqueKeysWithValues: EventCatalogue.all.map {
            (
                EventSchema.path(of: $0.name, revision: $0.revision),
                EventSchema.document(of: $0).canonical()
            )
        })

    private static func answer(_ bytes: [UInt8], _ type: String) -> Response {
        var response = Response(status: .ok, headers: Headers(), body: bytes)
        response.headers["Content-Type"] = type
        response.headers["Cache-Control"] = "public, max-age=3600"
        return response
    }
}
