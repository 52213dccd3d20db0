import EventSourcing
import Postgres

/// Reads the columns that a record is made of, as fast as the server gives them.
enum EventCopy {
    /// Calls with each row in its wire form, in order of position.
    /// - Parameter isFirst: whether to look below the first position as well, where nothing may be.
    static func read(
        _ realm: RealmID, _ positions: ClosedRange<Int64>, isFirst: Bool = false,
        on connection: Connection, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(Failure) {
        let first = isFirst && positions.lowerBound == 1 ? Int64.min : positions.lowerBound
        try read(
            realm, where: "position >= '\(first)' and position <= \(positions.upperBound)",
            on: connection, body)
    }

    /// The same for some positions, of which one that is missing has no row.
    static func read(
        _ realm: RealmID, at positions: [Int64], on connection: Connection,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(Failure) {
        let list = positions.map(String.init).joined(separator: ",")
        try read(realm, where: "position = any ('{\(list)}'::bigint[])", on: connection, body)
    }

    /// COPY takes no parameters. A realm's name needs no escape: it is a DNS label; all else are numbers.
    private static func read(
        _ realm: RealmID, where condition: String, on connection: Connection,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(Failure) {
        let copy = """
            copy (select \(EventColumns.selected) from urd.event
                where realm = '\(realm.name)' and \(condition)
                order by position) to stdout (format binary)
            """
        var isHeader = true
        try connection.copyOut(copy) { message throws(Failure) in
            var row = UnsafeRawBufferPointer(message)
            if isHeader {
                isHeader = false
                row = withoutHeader(row)
            }
            // The end is a row of -1 fields.
            guard row.count > 2 else { return }
            body(row)
        }
    }

    /// Signature, flags, and the length of an extension, with the extension.
    private static func withoutHeader(_ message: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard message.count >= 19 else { return message }
        let length = UnsafeRawBufferPointer(rebasing: message[15...]).bigEndian(Int32.self)
        return UnsafeRawBufferPointer(rebasing: message.dropFirst(19 + max(0, Int(length))))
    }
}
