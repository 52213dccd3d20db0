internal import EventSourcing
internal import HTTP
internal import JSON
internal import Values

/// What lists in the order of the log have in common: they go on from a cursor that has the epoch of the
/// log in it, and give one on the last page as well. `docs/reading-the-log.md` has the table.
enum LogLists {
    static let cursorPattern = Pattern.sequence([
        .some(Characters("0-9"), 1...9), .text(":"), .some(Characters("0-9"), 1...15),
    ])

    static let cursor = Schema.text(3...25, .said("a cursor such as 3:48211", cursorPattern))

    static let after = Lists.after(cursor)

    static let example: JSONObject = ListStanding.example.members.merging([
        "next": "3:48211", "more": false,
    ]) { $1 }

    static func answer<Item>(_ name: String, of shape: Shape<Item>) -> Answer {
        answer(name, of: shape.schema, example: shape.example)
    }

    static func answer(
        _ name: String, of item: Schema, atMost count: Int = 200, example: JSON
    ) -> Answer {
        .ok(
            "A page of the list.",
            .named(
                name,
                .object(
                    [
                        .required("items", .list(of: item, 0...count), "Items of this page."),
                        .required(
                            "next", cursor, "Cursor of the next page, also behind the last page."),
                        Lists.more,
                    ] + ListStanding.schema)),
            example: .object(Self.example.merging(["items": [example]]) { $1 }))
    }
}

/// Where a page of the log begins.
struct LogPlace: Sendable {
    /// In the epoch that the log is in; nil where nothing was said.
    let after: LogCursor?
    /// The event there.
    let event: Recorded?
    let epochs: EpochHistory
    /// How far the list is. Nil where it is the log itself.
    var standing: ListStanding?

    var position: Int64 { after?.position ?? 0 }

    func moved(to position: Int64) -> LogPlace {
        LogPlace(
            after: LogCursor(epoch: epochs.head.epoch, position: position), event: nil,
            epochs: epochs, standing: standing)
    }

    /// One item more than asked for tells that there is a next page.
    func page<Item>(
        _ limit: Int, of items: [Item], item: (Item) -> JSON, position: (Item) -> Int64
    ) -> Response {
        let shown = items.prefix(limit)
        return page(
            shown.map(item), next: shown.last.map(position) ?? self.position,
            hasMore: items.count > limit)
    }

    func page(_ items: [JSON], next: Int64, hasMore: Bool) -> Response {
        // The log may have gone on since its head was read.
        let head = epochs.head.position
        let held = standing ?? ListStanding(position: max(head, next), head: head)
        let page: JSONObject = [
            "items": .array(items),
            "next": .string(LogCursor(epoch: epochs.head.epoch, position: next).description),
            "more": .bool(hasMore), "position": .integer(held.position),
            "head": .integer(max(head, held.head, held.position)),
        ]
        return .json(.ok, .object(page))
    }
}

extension EpochHistory {
    /// The reader's place in the epoch that the log is in.
    func place(of cursor: LogCursor, field: String) throws(Problem) -> LogCursor {
        switch standing(of: cursor) {
        case .valid: return LogCursor(epoch: head.epoch, position: cursor.position)
        case .beyondHead:
            throw Problem(
                .invalidParameter,
                "\(field) is beyond the head of the log, \(head.epoch):\(head.position).",
                field: field)
        case .lost(let kept): throw Problem(lostBehind: kept, epoch: head.epoch, field: field)
        }
    }
}

extension Problem {
    /// The log went back behind what the reader has: it keeps what is up to a position.
    init(lostBehind kept: Int64, epoch: Int, field: String? = nil) {
        self.init(
            .positionLost,
            """
            The database was restored or failed over and has lost events that were read from it. \
            Undo what was made of positions after \(kept), and begin again there.
            """, field: field)
        members["kept_to"] = .integer(kept)
        members["cursor"] = .string(
            kept == 0
                ? LogCursor.start.description : LogCursor(epoch: epoch, position: kept).description)
    }
}
