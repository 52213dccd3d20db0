internal import EventSourcing
internal import Identity
internal import JSON

/// The AsyncAPI 3.0 document: a message for each event type and revision, and the channels that Urd sends
/// them on. It is made from the catalogue and the tables of mappings.
enum AsyncAPI {
    static func document(title: String, version: String) -> JSON {
        let shapes = EventCatalogue.all.sorted { name(of: $0) < name(of: $1) }
        return [
            "asyncapi": "3.0.0",
            "info": [
                "title": .string(title), "version": .string(version),
                "description": """
                The events of a realm's log, in the order of the log and without gaps: the same \
                event has the same id on every channel and in every retry.
                """,
                "license": ["name": "Apache-2.0"],
            ],
            "defaultContentType": "application/json",
            "servers": [
                "urd": [
                    "host": "{host}", "protocol": "https",
                    "description": "An instance of Urd, by its own host or one of a realm.",
                    "variables": [
                        "host": [
                            "default": "localhost:8080",
                            "description": "Host and port that Urd is reached at.",
                        ]
                    ],
                ]
            ],
            "channels": channels(shapes), "operations": operations,
            "components": [
                "messages": .object(messages(shapes)),
                "schemas": .object(schemas(shapes)),
                "securitySchemes": .object(securitySchemes),
            ],
        ]
    }

    /// A type's revisions are messages of their own.
    private static func name(of shape: EventShape) -> String { "\(shape.name).\(shape.revision)" }

    private static func channels(_ shapes: [EventShape]) -> JSON {
        let frames = names(of: ControlFrame.ofFeeds)
        let services = shapes.filter { $0.reach == .services }
        return [
            "feed": [
                "address": "/api/admin/realms/{realm}/feed", "title": "Feed",
                "description": """
                Server-sent events (`text/event-stream`): `id` is the cursor, `event` the type, \
                `data` the payload. `Last-Event-ID` goes on behind the event that it names. With \
                `Accept: application/x-ndjson` each line is a payload: an event's is the same, and \
                what the feed says itself is a message of its own (`line.urd.progress`). Lists of \
                the log, also those that wait, have the payloads of events as their items and \
                nothing of what a feed says itself.
                """,
                "parameters": ["realm": ["description": "The realm's name."]],
                "servers": [["$ref": "#/servers/urd"]],
                "messages": references(shapes.map(name) + frames),
            ],
            "clientFeed": [
                "address": "/api/feed", "title": "Feed of a client",
                "description": "The same for a client of the realm, at the realm's host.",
                "servers": [["$ref": "#/servers/urd"]],
                "messages": references(services.map(name) + frames),
            ],
            "replay": [
                "address": "/api/admin/realms/{realm}/replay", "title": "Replay",
                "description": "A part of the log once more, in the forms of the feed.",
                "parameters": ["realm": ["description": "The realm's name."]],
                "servers": [["$ref": "#/servers/urd"]],
                "messages": references(
                    shapes.map(name) + names(of: ControlFrame.ofReplays)
                        + names(of: ControlFrame.ofFeeds.filter { $0.isOfReplaysToo })),
            ],
            "webhook": [
                "address": .null, "title": "Webhook",
                "description": """
                A POST for each event to the address of a subscription, signed as Standard \
                Webhooks says: `webhook-id` is the event's id.
                """,
                "messages": references(shapes.map(webhookName) + letters.map(\.name)),
            ],
        ]
    }

    private static func names(of frames: [ControlFrame]) -> [String] {
        frames.map(\.name) + frames.map(\.lineName)
    }

    private static func webhookName(of shape: EventShape) -> String { "webhook.\(name(of: shape))" }

    private static func references(_ names: [String]) -> JSON {
        .object(
            JSONObject(
                names.map { ($0, ["$ref": .string("#/components/messages/\($0)")]) }))
    }

    // MARK: - Messages

    private static func messages(_ shapes: [EventShape]) -> JSONObject {
        var messages = JSONObject(shapes.map { (name(of: $0), message(of: $0)) })
        for shape in shapes { messages[webhookName(of: shape)] = webhookMessage(of: shape) }
        for frame in ControlFrame.ofFeeds + ControlFrame.ofReplays {
            messages[frame.name] = frame.message
            messages[frame.lineName] = frame.lineMessage
        }
        for (name, sentence) in letters {
            messages[name] = message(
                name, sentence, letter(of: name, data: ["type": "object"]), letterMembers)
        }
        return messages
    }

    /// What webhooks are sent that is in no log.
    private static let letters = [
        (name: "urd.test", sentence: "An administrator tries the webhook."),
        (name: "log.rewound", sentence: "The log went back: what came later is void."),
    ]

    private static let letterMembers = ["type", "timestamp", "data"]

    private static func letter(of type: String, data: JSON) -> JSONObject {
        [
            "type": ["const": .string(type)],
            "timestamp": ["type": "string", "format": "date-time"], "data": data,
        ]
    }

    private static func message(
        _ name: String, _ sentence: String, _ members: JSONObject, _ required: [String]
    ) -> JSON {
        [
            "name": .string(name), "title": .string(name), "summary": .string(sentence),
            "contentType": "application/json",
            "payload": [
                "allOf": [
                    [
                        "type": "object", "required": .array(required.map { .string($0) }),
                        "properties": .object(members),
                    ]
                ]
            ],
        ]
    }

    private static func webhookMessage(of shape: EventShape) -> JSON {
        message(
            shape.name, shape.sentence, letter(of: shape.name, data: payload(of: shape)),
            letterMembers)
    }

    /// As AsyncAPI has it, Urd is the application, and so it sends.
    private static let operations: JSON = [
        "sendFeed": [
            "action": "send", "channel": ["$ref": "#/channels/feed"],
            "summary": "Streams the events of a realm to a reader.",
            "security": [["$ref": "#/components/securitySchemes/adminKey"]],
            "bindings": ["http": ["method": "GET", "bindingVersion": "0.3.0"]],
        ],
        "sendReplay": [
            "action": "send", "channel": ["$ref": "#/channels/replay"],
            "summary": "Streams a part of a realm's log once more.",
            "security": [["$ref": "#/components/securitySchemes/adminKey"]],
            "bindings": ["http": ["method": "GET", "bindingVersion": "0.3.0"]],
        ],
        "sendClientFeed": [
            "action": "send", "channel": ["$ref": "#/channels/clientFeed"],
            "summary": "Streams the events of a realm to one of its clients.",
            "security": [["$ref": "#/components/securitySchemes/accessToken"]],
            "bindings": ["http": ["method": "GET", "bindingVersion": "0.3.0"]],
        ],
        "sendWebhook": [
            "action": "send", "channel": ["$ref": "#/channels/webhook"],
            "summary": "Posts an event to the address of a subscription.",
            "security": [["$ref": "#/components/securitySchemes/webhookSignature"]],
            "bindings": ["http": ["method": "POST", "bindingVersion": "0.3.0"]],
        ],
    ]

    private static let securitySchemes: JSONObject = [
        "adminKey": [
            "type": "http", "scheme": "bearer",
            "description": "An admin key, made with `urd admin key create`.",
        ],
        "accessToken": [
            "type": "http", "scheme": "bearer",
            "description": "An access token that a client got for itself at the token endpoint.",
        ],
        "webhookSignature": [
            "type": "httpApiKey", "in": "header", "name": "webhook-signature",
            "description": "A signature over id, time and body, by which Urd shows itself.",
        ],
    ]

    private static func message(of shape: EventShape) -> JSON {
        [
            "name": .string(shape.name), "title": .string(shape.name),
            "summary": .string(shape.sentence), "contentType": "application/json",
            "payload": payload(of: shape), "x-urd-to": .string(shape.reach.letter),
            "x-urd-caep": .array(
                SignalTable.rules(for: shape.name).map {
                    [
                        "type": .string($0.kind.uri), "when": .string($0.condition.rawValue),
                        "on_request": .bool($0.isOnRequest),
                    ]
                }),
            "x-urd-ocsf": .array(
                OCSFTable.rules(for: shape.name).map {
                    [
                        "type_uid": .integer($0.type), "status_id": .integer($0.status.rawValue),
                        "when": .string($0.condition.rawValue),
                    ]
                }),
        ]
    }

    private static func payload(of shape: EventShape) -> JSON {
        [
            "allOf": [
                ["$ref": "#/components/schemas/event"],
                [
                    "type": "object",
                    "properties": [
                        "type": ["const": .string(shape.name)],
                        "revision": ["const": .integer(Int64(shape.revision))],
                        "data": ["$ref": .string("#/components/schemas/\(name(of: shape))")],
                    ],
                ],
            ]
        ]
    }

    private static func schemas(_ shapes: [EventShape]) -> JSONObject {
        var schemas = JSONObject(shapes.map { (name(of: $0), .object(EventSchema.body(of: $0))) })
        var envelope = EventSchema.envelope.object ?? [:]
        // Documents of their own say these, and parts of a document do not.
        envelope["$schema"] = nil
        envelope["$id"] = nil
        schemas["event"] = .object(envelope)
        return schemas
    }
}
