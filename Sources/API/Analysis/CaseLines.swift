internal import Cryptography
internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The lines of a case file. Each begins with the hash of itself and of all before it, so that of a changed
/// or missing line a verifier says which one it is.
struct CaseLines: Sendable {
    static let format = "urd-case/1"

    /// What a case file shows and what it does not, for its first page.
    static let limits = [
        "Each record was in the realm's log with this content, at this position and in this order: it leads to "
            + "the root that the log's key signed.",
        "Of a stream that is marked complete nothing is missing between its first version and the last one here. "
            + "Later versions are behind the position up to which was looked.",
        "That nothing else in the log concerns the subject of this case rests on the server's index. With the "
            + "leaves of the whole log and an export of it, an auditor can look for themselves.",
        "An opened field is what was sealed when the event was recorded. That what was recorded is true, no "
            + "log can show.",
        "Personal data that was erased cannot be shown; the record that it was there stays.",
    ]

    private(set) var chain: [UInt8]
    private(set) var count: Int64

    init(after progress: CaseProgress) {
        chain = progress.chain
        count = progress.lines
    }

    /// One line, with its end.
    mutating func line(_ kind: String, _ members: JSONObject) -> [UInt8] {
        var members = members
        members["line"] = .string(kind)
        let body = JSON.object(members).canonical()
        chain = SHA256.hash([chain, body])
        count += 1
        return Array("{\"hash\":\"\(Base64URL.encode(chain))\",".utf8) + body.dropFirst() + [0x0A]
    }

    /// The first line: what was asked, by whom and why.
    mutating func opening(_ job: CaseFileJob) -> [UInt8] {
        let question = job.question
        return line(
            "case",
            [
                "format": .string(Self.format), "case": .string(job.id.description),
                "realm": .string(job.realm.name), "epoch": .integer(Int64(job.epoch)),
                "about": ["kind": .string(question.about.rawValue), "id": .string(question.id)],
                "until": .integer(question.until), "open": .bool(question.opens),
                "complete": .bool(question.isComplete), "asker": .string(job.asker),
                "asked_at": .string(job.askedAt.description), "reason": .string(question.reason),
                "checkpoint": .string(String(decoding: job.progress.checkpoint, as: UTF8.self)),
                "limits": .array(Self.limits.map { .string($0) }),
            ])
    }

    mutating func record(_ event: EventEvidence) -> [UInt8] {
        line(
            "record",
            [
                "position": .integer(event.position),
                "record": .string(String(decoding: event.record, as: UTF8.self)),
                "path": .array(event.path.map { .string(Base64.encode($0)) }),
            ])
    }

    /// Why a record is in.
    mutating func related(_ position: Int64, _ references: [EventReferences]) -> [UInt8] {
        line(
            "related",
            [
                "position": .integer(position),
                "about": .array(references.map { .object($0.members) }),
            ])
    }

    /// What became of an event's personal fields; nothing where it has none, or the request did not ask for them.
    mutating func opened(_ event: EventEvidence) -> [UInt8] {
        var members: JSONObject = ["position": .integer(event.position)]
        switch event.personal {
        case .none, .sealed: return []
        case .opened(let sealed, let key, let fields):
            members["personal"] = "opened"
            members["sealed"] = .string(Base64URL.encode(sealed))
            members["key"] = .string(Base64URL.encode(key))
            members["fields"] = .object(fields)
        case .unprovable(let fields):
            members["personal"] = "unprovable"
            members["fields"] = .object(fields)
        case .erased: members["personal"] = "erased"
        case .unreadable: members["personal"] = "unreadable"
        }
        return line("opened", members)
    }

    mutating func stream(_ part: EventExtent.Part) -> [UInt8] {
        line(
            "stream",
            [
                "stream": .string(part.stream.description), "first": .integer(Int64(part.first)),
                "last": .integer(Int64(part.last)), "count": .integer(Int64(part.count)),
                "complete": .bool(part.isComplete),
            ])
    }

    /// The leaves of a part of the log, from a position on.
    mutating func leaves(from position: Int64, _ leaves: [[UInt8]]) -> [UInt8] {
        line(
            "leaves",
            [
                "from": .integer(position),
                "leaves": .array(leaves.map { .string(Base64.encode($0)) }),
            ])
    }

    /// The last line, without which a file is none.
    /// - Parameter note: of the log's key, over the number of the lines before and their hash.
    mutating func manifest(_ progress: CaseProgress, note: [UInt8]) -> [UInt8] {
        line(
            "manifest",
            [
                "lines": .integer(count), "records": .integer(progress.records),
                "opened": .integer(progress.opened), "digest": .string(digest),
                "signature": .string(String(decoding: note, as: UTF8.self)),
            ])
    }

    /// The hash of all lines, as it is on record.
    var digest: String { Base64URL.encode(chain) }
}

extension EventReferences {
    fileprivate var members: JSONObject {
        var members = JSONObject()
        members["account"] = account.map { .string($0.description) }
        members["browser"] = browser.map { .string($0.description) }
        members["client"] = client.map { .string($0.description) }
        members["device"] = device.map { .string($0) }
        members["session"] = session.map { .string($0.description) }
        members["source"] = source.map { .string($0) }
        return members
    }
}
