internal import JSON

/// What feeds and replays say themselves, between the events. Of Server-Sent Events the name stands in `event` and the
/// cursor in `id`, and `data` is what it says; in lines all three are members of one object.
struct ControlFrame {
    let name: String
    let sentence: String
    /// The schema of what it says.
    let data: JSON
    /// Whether it moves the reader's place.
    var hasCursor = false
    /// Whether a replay says it as well as a feed.
    var isOfReplaysToo = false

    /// Of a feed.
    static let ofFeeds = [
        ControlFrame(
            name: "urd.progress",
            sentence: "The reader is here: events were left out, or none happened.",
            data: closed(
                ["position": position, "head": position], required: ["position", "head"]),
            hasCursor: true, isOfReplaysToo: true),
        ControlFrame(
            name: "urd.error",
            sentence: "The last frame of a feed that cannot go on: a problem (RFC 9457).",
            data: [
                "type": "object", "required": ["type", "title", "status"],
                "properties": [
                    "type": ["type": "string", "pattern": "^/problems/"],
                    "title": ["type": "string"], "detail": ["type": "string"],
                    "status": ["type": "integer", "minimum": 400, "maximum": 599],
                ],
            ], isOfReplaysToo: true),
        ControlFrame(
            name: "urd.taken_over",
            sentence: "Another reader has the subscription, or it was changed.",
            data: closed([:], required: [])),
        ControlFrame(
            name: "urd.leaves", sentence: "The leaves of events that were left out.",
            data: closed(
                [
                    "from": position,
                    "leaves": [
                        "type": "array", "minItems": 1,
                        "items": ["type": "string", "pattern": "^[A-Za-z0-9_-]{43}$"],
                    ],
                ], required: ["from", "leaves"]),
            hasCursor: true),
        ControlFrame(
            name: "urd.checkpoint", sentence: "A signed checkpoint of the log.",
            data: closed(["checkpoint": ["type": "string"]], required: ["checkpoint"])),
    ]

    /// Of a replay alone.
    static let ofReplays = [
        ControlFrame(
            name: "urd.clock", sentence: "The time that the replay has come to.",
            data: closed(
                [
                    "position": position, "speed": position, "end": position,
                    "time": ["type": "string", "format": "date-time"],
                ], required: ["position", "speed", "end"]),
            hasCursor: true),
        ControlFrame(
            name: "urd.replayed", sentence: "The last frame of a replay that came to its end.",
            data: closed(
                ["position": position, "events": position], required: ["position", "events"]),
            hasCursor: true),
    ]

    private static let position: JSON = ["type": "integer", "minimum": 0]

    private static func closed(_ members: JSONObject, required: [String]) -> JSON {
        [
            "type": "object", "required": .array(required.map { .string($0) }),
            "properties": .object(members), "additionalProperties": false,
        ]
    }

    // MARK: - As messages

    /// What it is called where it is a line of JSON.
    var lineName: String { "line.\(name)" }

    private static let cursor: JSON = ["type": "string", "pattern": "^[0-9]+:[0-9]+$"]

    /// As a frame of Server-Sent Events.
    var message: JSON {
        var fields: JSONObject = ["event": ["const": .string(name)]]
        if hasCursor { fields["id"] = Self.cursor }
        var message = described
        message["headers"] = Self.object(fields)
        message["payload"] = ["allOf": [data]]
        return .object(message)
    }

    /// As a line of JSON.
    var lineMessage: JSON {
        var members: JSONObject = ["type": ["const": .string(name)], "data": data]
        if hasCursor { members["cursor"] = Self.cursor }
        var message = described
        message["payload"] = ["allOf": [Self.object(members)]]
        return .object(message)
    }

    private var described: JSONObject {
        [
            "name": .string(name), "title": .string(name), "summary": .string(sentence),
            "contentType": "application/json",
        ]
    }

    /// All of these members, and no others.
    private static func object(_ members: JSONObject) -> JSON {
        closed(members, required: members.keys.sorted())
    }
}
