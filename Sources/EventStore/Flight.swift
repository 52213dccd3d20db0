import EventSourcing
import Postgres
import Values

/// One batch as one call of `urd.append_all` or, to be judged, of `urd.append`, and what the call
/// answered.
enum Flight {
    /// Supposes that every command wins, and fails when one does not. Its answer is one value: a function to select from
    /// has its rows copied first.
    static let hopeful = Statement("append_all", "select urd.append_all(\(arguments(36)))")
    /// Judges every command.
    static let judged = Statement(
        "append",
        """
        select o_epoch, o_first, o_outcome, o_position, o_events, o_kind
        from urd.append(\(arguments(32)))
        """)

    /// What to send. An epoch of 0 takes the realm's current epoch, and opens its log.
    static func sending(_ batch: Batch) -> (statement: Statement, parameters: Parameters) {
        var parameters = Parameters()
        parameters.add(batch.realm.name)
        parameters.add(Int32(batch.epoch))
        if batch.isJudged {
            JudgedArrays(batch).add(to: &parameters)
            return (judged, parameters)
        }
        HopefulArrays(batch).add(to: &parameters)
        return (hopeful, parameters)
    }

    private static func arguments(_ count: Int) -> String {
        (1...count).map { "$\($0)" }.joined(separator: ", ")
    }

    static func answers(_ rows: Rows, _ batch: Batch) -> [AppendOutcome] {
        if rows.width == 1 {
            let answer = rows.record(0, 0)
            precondition(answer.count == 2, "It answers with an epoch and a position.")
            return allWon(batch, epoch: Int(answer[0]), first: answer[1])
        }
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

    /// What the log has on record of a command, without sending it; nil where it has nothing.
    static func recorded(
        _ pending: Pending, _ realm: RealmID, _ connection: Connection
    ) throws(Failure) -> AppendOutcome? {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(pending.commit.command)
        let rows = try connection.execute(findingCommand, parameters)
        guard !rows.isEmpty else { return nil }
        guard rows.bytes(0, 3) == pending.commit.digest else { return .misused }
        let at = Positions(
            epoch: Int(rows.int32(0, 0)), first: rows.int64(0, 1), count: Int(rows.int32(0, 2)))
        let alone = Batch(realm: realm, commands: [pending], isResent: true)
        return try firstAnswers([.duplicate(at)], alone, connection).first
    }

    /// A commit after all that was found: a standby that commits wait for has both then.
    static let committing = Statement(
        "committing", "select pg_logical_emit_message(true, 'urd', 'resolved')")
    private static let findingCommand = Statement(
        "command_sent",
        """
        select (select h.epoch from urd.realm_log h where h.realm = $1), position, events, digest
        from urd.command where realm = $1 and command = $2
        """)
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
