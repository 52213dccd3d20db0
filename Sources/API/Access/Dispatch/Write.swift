internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import JSON
internal import Values

/// One write: the id of its command, and what was asked in so many words.
struct Write: Sendable {
    let realm: RealmID
    let command: UUID
    let digest: [UInt8]
    let origin: Origin

    /// The id of what the command makes: a repeat makes, and answers with, the same.
    func newID(_ kind: String) -> UUID {
        .v8(SHA256.hash(framed(["urd new id", realm.name, kind], [command.bytes])))
    }

    /// A further write of the same request, under an id of its own.
    func another(_ command: UUID) -> Write {
        Write(realm: realm, command: command, digest: digest, origin: origin)
    }

    /// The id of the command that an actor's idempotency key stands for.
    static func command(of actor: String, in realm: RealmID, key: String) -> UUID {
        .v8(SHA256.hash(framed(["urd idempotency", actor, realm.name, key], [])))
    }

    static func digest(of request: Request, _ body: JSON) -> [UInt8] {
        SHA256.hash(framed([request.method.rawValue, request.path], [body.canonical()]))
    }
}

/// A refusal of the domain, as the API tells it.
protocol Refusal: Error {
    var problem: Problem { get }
}

/// What a command came to.
struct WriteReceipt: Sendable {
    let write: Write
    let positions: Positions
}

/// A stream's state, and when its first and its last event happened.
struct StreamSnapshot<State: StreamState>: Sendable {
    let state: State
    let createdAt: Timestamp
    let changedAt: Timestamp
}

extension Response {
    /// Says where in the log the write stands, so that a later read can ask for no less.
    func at(_ done: WriteReceipt) -> Response {
        var response = self
        let position = LogPosition(
            realm: done.write.realm, epoch: done.positions.epoch, position: done.positions.last)
        response.headers["Urd-Position"] = position.description
        return response
    }
}

/// Joins parts so that no two lists of parts look alike: each has its length in front.
func framed(_ texts: [String], _ rest: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for part in texts.map({ Array($0.utf8) }) + rest {
        let length = UInt64(part.count)
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: length >> shift))
        }
        bytes += part
    }
    return bytes
}
