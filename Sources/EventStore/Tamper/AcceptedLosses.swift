import EventSourcing
import JSON
import Postgres

/// The losses of a realm that were accepted, as its log has them: only what the application wrote
/// counts, not what stands in the table.
struct AcceptedLosses {
    private let losses: [AcceptedLoss]

    init(
        _ realm: RealmID, keys: RealmKeys, on connection: Connection
    ) throws(Failure) {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(AcceptedLoss.stream)
        parameters.add(AcceptedLoss.eventName)
        let rows = try connection.execute(findingAccepted, parameters)
        let positions = (0..<rows.count).map { rows.int64($0, 0) }
        var losses: [AcceptedLoss] = []
        for position in positions {
            try EventCopy.read(realm, position...position, on: connection) { row in
                if let loss = AcceptedLosses.read(row, realm, keys) { losses.append(loss) }
            }
        }
        self.losses = losses
    }

    /// Nil for an event that the application did not write, or wrote for something else.
    private static func read(
        _ row: UnsafeRawBufferPointer, _ realm: RealmID, _ keys: RealmKeys
    ) -> AcceptedLoss? {
        guard let event = EventColumns(row), event.hasWholeObjects,
            event.stream == AcceptedLoss.stream,
            event.type.elementsEqual(AcceptedLoss.eventName.utf8)
        else { return nil }
        var record = RecordBuffer()
        event.writeRecord(realm: Array(realm.name.utf8), into: &record)
        let leaf = record.leaf
        guard leaf == event.leaf, keys.isAuthentic(leaf, mac: event.mac) else { return nil }
        return (try? JSON.parse(Array(event.data)))?.object.flatMap { AcceptedLoss($0) }
    }

    /// Whether a checkpoint that this realm signed was given up.
    func cover(_ checkpoint: SignedCheckpoint) -> Bool {
        losses.contains { checkpoint.size <= $0.size && checkpoint.epoch < $0.epoch }
    }

    /// The same of a note that none of this realm's keys signed: the realm was lost as a whole, keys
    /// and all, and made again.
    func coverUnsigned(_ note: [UInt8]) -> Bool {
        guard let size = SignedNote(note).flatMap({ Checkpoint(text: $0.text) })?.size else {
            return false
        }
        return losses.contains { size <= $0.size }
    }
}

private let findingAccepted = Statement(
    "tamper_accepted",
    "select position from urd.event where realm = $1 and stream = $2 and type = $3 order by position"
)
