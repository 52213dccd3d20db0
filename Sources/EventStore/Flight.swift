import EventSourcing
import Postgres
import Values

/// One batch as one call of `urd.append`, and what the call answered.
enum Flight {
    private static let arguments = (1...30).map { "$\($0)" }.joined(separator: ", ")
    private static let results = "o_epoch, o_first, o_outcome, o_position, o_events, o_kind"

    /// Judges every command of a batch.
    static let careful = Statement("append", "select \(results) from urd.append(\(arguments))")
    /// Supposes that a lone command wins, and fails when it does not.
    static let hopeful = Statement(
        "append_one", "select \(results) from urd.append_one(\(arguments))")

    /// Whether a flight failed only because its lone command lost.
    static func wasTooHopeful(_ failure: Failure, _ batch: Batch) -> Bool {
        batch.commands.count == 1 && (failure.code == "UR003" || failure.code == "23505")
    }

    /// The arguments. An epoch of 0 takes whatever epoch the realm has, and opens its log.
    static func parameters(_ batch: Batch, epoch: Int32) -> Parameters {
        var columns = Columns()
        for (index, pending) in batch.commands.enumerated() {
            columns.append(pending.commit, number: Int32(index + 1))
        }
        var parameters = Parameters()
        parameters.add(batch.realm.name)
        parameters.add(epoch)
        columns.add(to: &parameters)
        return parameters
    }

    static func answers(_ rows: Rows, _ batch: Batch) -> [AppendOutcome] {
        let epoch = Int(rows.int32(0, 0))
        if rows.isNull(0, 2) {
            return allWon(batch, epoch: epoch, first: rows.int64(0, 1))
        }
        let outcomes = rows.array(0, 2)
        let positions = rows.array(0, 3)
        let counts = rows.array(0, 4)
        let kinds = rows.array(0, 5)
        return batch.commands.indices.map { index in
            let at = Positions(
                epoch: epoch, first: number(positions, index), count: Int(number(counts, index)))
            return switch outcomes.indices.contains(index) ? outcomes[index]?.first : nil {
            case UInt8(ascii: "w"): .won(at)
            case UInt8(ascii: "d"): .duplicate(at)
            case UInt8(ascii: "m"): .misused
            case UInt8(ascii: "t"): .taken(kind: kind(kinds, index))
            default: .conflict
            }
        }
    }

    private static func allWon(_ batch: Batch, epoch: Int, first: Int64) -> [AppendOutcome] {
        var next = first
        return batch.commands.map { pending in
            let count = pending.commit.events.count
            defer { next += Int64(count) }
            return .won(Positions(epoch: epoch, first: next, count: count))
        }
    }

    /// The answers to a batch that was sent twice. What the first sending did is the outcome; but a
    /// command that a caller repeats was a duplicate then as well. Events know their own: a leaf is
    /// the hash of all that a command said.
    static func firstAnswers(
        _ answers: [AppendOutcome], _ batch: Batch, _ connection: Connection
    ) throws(Failure) -> [AppendOutcome] {
        guard batch.isResent else { return answers }
        var told: [AppendOutcome] = []
        for (pending, answer) in zip(batch.commands, answers) {
            guard case .duplicate(let at) = answer else {
                told.append(answer)
                continue
            }
            var parameters = Parameters()
            parameters.add(batch.realm.name)
            parameters.add(at.first)
            let rows = try connection.execute(findingLeaf, parameters)
            let isOurs = pending.commit.events.first.map {
                !rows.isEmpty && rows.bytes(0, 0) == $0.leaf
            }
            told.append(isOurs ?? true ? .won(at) : answer)
        }
        return told
    }

    private static let findingLeaf = Statement(
        "leaf", "select leaf from urd.event where realm = $1 and position = $2")

    private static func number(_ values: [[UInt8]?], _ index: Int) -> Int64 {
        guard values.indices.contains(index), let bytes = values[index] else { return 0 }
        return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    private static func kind(_ values: [[UInt8]?], _ index: Int) -> String {
        guard values.indices.contains(index), let bytes = values[index] else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The arrays of a flight, filled command by command.
private struct Columns {
    var command = ArrayParameter(of: .uuid)
    var digest = ArrayParameter(of: .bytea)
    var at = ArrayParameter(of: .timestamptz)
    var events = ArrayParameter(of: .int4)
    var before = ArrayParameter(of: .int4)
    var readNumber = ArrayParameter(of: .int4)
    var readStream = ArrayParameter(of: .uuid)
    var readVersion = ArrayParameter(of: .int4)
    var readEvents = ArrayParameter(of: .int4)
    var claimNumber = ArrayParameter(of: .int4)
    var claimKind = ArrayParameter(of: .text)
    var claimKey = ArrayParameter(of: .bytea)
    var claimStream = ArrayParameter(of: .uuid)
    var claimTake = ArrayParameter(of: .bool)
    var eventNumber = ArrayParameter(of: .int4)
    var eventOffset = ArrayParameter(of: .int4)
    var eventStream = ArrayParameter(of: .uuid)
    var eventVersion = ArrayParameter(of: .int4)
    var eventType = ArrayParameter(of: .text)
    var eventRevision = ArrayParameter(of: .int2)
    var eventAt = ArrayParameter(of: .timestamptz)
    var eventCommand = ArrayParameter(of: .uuid)
    var eventSubject = ArrayParameter(of: .uuid)
    var eventLeaf = ArrayParameter(of: .bytea)
    var eventMAC = ArrayParameter(of: .bytea)
    var eventMeta = ArrayParameter(of: .json)
    var eventBody = ArrayParameter(of: .json)
    var eventSealed = ArrayParameter(of: .bytea)
    private var total: Int32 = 0

    mutating func append(_ commit: EncodedCommit, number: Int32) {
        command.append(commit.command)
        digest.append(bytes: commit.digest)
        at.append(time: commit.at.microseconds)
        events.append(Int32(commit.events.count))
        before.append(total)
        total += Int32(commit.events.count)
        for read in commit.reads {
            readNumber.append(number)
            readStream.append(read.stream)
            readVersion.append(read.version)
            readEvents.append(read.events)
        }
        for claim in commit.claims {
            claimNumber.append(number)
            claimKind.append(claim.kind)
            claimKey.append(bytes: claim.key)
            claimStream.append(claim.stream)
            claimTake.append(claim.take)
        }
        for (offset, event) in commit.events.enumerated() {
            append(event, of: commit, number: number, offset: Int32(offset))
        }
    }

    private mutating func append(
        _ event: EncodedCommit.EventRow, of commit: EncodedCommit, number: Int32, offset: Int32
    ) {
        eventNumber.append(number)
        eventOffset.append(offset)
        eventStream.append(event.stream)
        eventVersion.append(event.version)
        eventType.append(event.type)
        eventRevision.append(event.revision)
        eventAt.append(time: commit.at.microseconds)
        eventCommand.append(commit.command)
        if let subject = event.subject {
            eventSubject.append(subject)
        } else {
            eventSubject.appendNull()
        }
        eventLeaf.append(bytes: event.leaf)
        eventMAC.append(bytes: event.mac)
        eventMeta.append(bytes: commit.meta)
        eventBody.append(bytes: event.data)
        if let sealed = event.sealed {
            eventSealed.append(bytes: sealed)
        } else {
            eventSealed.appendNull()
        }
    }

    /// In the order of `urd.append`'s parameters.
    func add(to parameters: inout Parameters) {
        for array in [
            command, digest, at, events, before, readNumber, readStream, readVersion, readEvents,
            claimNumber, claimKind, claimKey, claimStream, claimTake, eventNumber, eventOffset,
            eventStream, eventVersion, eventType, eventRevision, eventAt, eventCommand,
            eventSubject, eventLeaf, eventMAC, eventMeta, eventBody, eventSealed,
        ] {
            parameters.add(array)
        }
    }
}
