import Cryptography
import EventSourcing
import Testing
import Values

@testable import EventStore

/// Each attack is one that the database's superuser can carry out without the master key.
@Suite(.serialized) struct `Verifying a log` {
    private func finding(_ log: TamperedLog, from position: Int64 = 1) async throws -> Finding? {
        try await log.verifier.verify(log.realm, from: position).finding
    }

    @Test func `verifying an intact log finds it intact, with all that is signed`() async throws {
        let log = try await TamperedLog.sealed()
        try await log.append(50)
        let verification = try await log.verifier.verify(log.realm)
        #expect(verification.isIntact)
        #expect(verification.first == 1 && verification.last == 750)
        // Seven in the database, and the last of them in the file.
        #expect(verification.sealed == 700 && verification.checkpoints == 8)
    }

    @Test func `verifying an empty log finds it intact`() async throws {
        let log = try TamperedLog()
        #expect(try await log.verifier.verify(log.realm).isIntact)
    }

    // MARK: - Changed

    @Test(arguments: [
        "data = '{\"n\":0}'", "meta = '{}'", "at = at + interval '1 microsecond'", "type = 'other'",
        "at = 'infinity'", "command = gen_random_uuid()", "subject = gen_random_uuid()",
        "revision = revision + 1", "sealed = '\\x00'", "stream = gen_random_uuid()",
        "version = version + 1000", "leaf = sha256('')", "leaf = ''", "leaf = mac",
        "data = '{ \"n\":0}'", "type = 'thing.happened\",\"version\":1,\"x\":\"'",
    ])
    func `verifying a log names the event in which any column was changed`(_ change: String)
        async throws
    {
        let log = try await TamperedLog.sealed()
        for position in [650, 150] as [Int64] {
            try log.attack("update urd.event set \(change) where position = \(position)")
            let expected: Finding.Problem = change.hasPrefix("leaf") ? .leafChanged : .changed
            #expect(try await finding(log) == Finding(expected, at: position))
        }
    }

    @Test func `verifying a log names any changed event at any position`() async throws {
        let log = try await TamperedLog.sealed()
        let seed = UInt64.random(in: 0 ... .max)
        var random = Seeded(state: seed)
        try log.attack("create table kept as select * from urd.event")
        for _ in 0..<40 {
            let position = Int64.random(in: 1...700, using: &random)
            let column = ["data", "meta", "type", "revision", "command"].randomElement(
                using: &random)
            let value =
                switch column {
                case "revision": "revision + 1"
                case "command": "gen_random_uuid()"
                case "type": "type || 'x'"
                case let column: "replace(\(column ?? "")::text, 'e', 'f')::json"
                }
            // Some attackers make the leaf fit; in full tiles that hides nothing either.
            let isFixed = position <= 512 && Bool.random(using: &random)
            try log.attack(
                "update urd.event set \(column ?? "") = \(value) where position = \(position)")
            if isFixed { try log.fixLeaf(at: position) }
            #expect(
                try await finding(log) == Finding(isFixed ? .forged : .changed, at: position),
                "seed \(seed), \(column ?? "") at \(position)")
            try log.attack(
                "delete from urd.event where position = \(position)",
                "insert into urd.event select * from kept where position = \(position)")
        }
        #expect(try await finding(log) == nil)
    }

    @Test func `verifying a log names an event that lost its sealed part or its subject`()
        async throws
    {
        for column in ["sealed", "subject"] {
            let log = try await TamperedLog.sealed()
            try log.attack("update urd.event set \(column) = null where position = 151")
            #expect(try await finding(log) == Finding(.changed, at: 151))
        }
    }

    @Test func `verifying a log names an event whose leaf was made to fit the change`() async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack("update urd.event set data = '{}' where position = 650")
        try log.fixLeaf(at: 650)
        // Past the last full tile nobody remembers what was there: the range since the last
        // checkpoint that holds is as close as it gets, but for the event that is known bad.
        #expect(try await finding(log) == Finding(.forged, at: 650, notBefore: 601))
        try log.attack("update urd.event set data = '{}' where position = 150")
        try log.fixLeaf(at: 150)
        #expect(try await finding(log) == Finding(.forged, at: 150))
    }

    @Test func `verifying a log names an event whose leaf and tile were made to fit the change`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack("update urd.event set data = '{}' where position = 150")
        try log.fixLeaf(at: 150)
        try log.fixTile(0)
        #expect(try await finding(log) == Finding(.forged, at: 150, notBefore: 101))
    }

    @Test func `verifying a log names an event that was given the leaf and mac of another`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack(
            """
            update urd.event e set leaf = o.leaf, mac = o.mac from urd.event o
            where e.position = 150 and o.position = 120
            """)
        #expect(try await finding(log) == Finding(.leafChanged, at: 150))
    }

    @Test func `verifying a log names an event that was given the whole content of another`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.dropUniqueness()
        try log.attack(
            """
            create table copied as select * from urd.event where position = 120;
            update copied set position = 150;
            delete from urd.event where position = 150;
            insert into urd.event select * from copied
            """)
        #expect(try await finding(log) == Finding(.repeated, at: 150))
    }

    @Test func `verifying a log names an event whose mac was changed`() async throws {
        let log = try await TamperedLog.sealed()
        try log.attack("update urd.event set mac = '\\x00' where position = 150")
        #expect(try await finding(log) == Finding(.macChanged, at: 150))
    }

    @Test func `verifying a log tells columns apart that read alike when joined`() async throws {
        let log = try TamperedLog()
        let record = log.record(at: 1)
        let realm = Array(log.realm.name.utf8)
        let whole = #"{"a":{"b":1},"meta":{"c":2}}"#
        let honest = row(record, data: whole, meta: #"{"d":3}"#)
        let crooked = row(record, data: #"{"a":{"b":1}"#, meta: #"{"c":2}},"meta":{"d":3}"#)
        var records: [[UInt8]] = []
        var areWhole: [Bool] = []
        for bytes in [honest, crooked] {
            try bytes.withUnsafeBytes { bytes in
                let event = try #require(EventColumns(bytes))
                var buffer = RecordBuffer()
                event.writeRecord(realm: realm, into: &buffer)
                records.append(buffer.record)
                areWhole.append(event.hasWholeObjects)
            }
        }
        #expect(records[0] == records[1])
        #expect(areWhole == [true, false])
    }

    @Test func `verifying a log names an event whose bytes moved from one column to the next`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack(
            "alter table urd.event alter column data type text using data::text",
            "alter table urd.event alter column meta type text using meta::text",
            """
            update urd.event set
                data = split_part(data, ',"meta":', 1),
                meta = split_part(data, ',"meta":', 2) || ',"meta":' || meta
            where position = 150
            """)
        #expect(try await finding(log) == Finding(.unreadable, at: 150))
    }

    // MARK: - Order

    @Test func `verifying a log names the first of two events that changed places`() async throws {
        let log = try await TamperedLog.sealed()
        try log.attack(TamperedLog.swap)
        #expect(try await finding(log) == Finding(.reordered, at: 150))
    }

    @Test func `verifying a log narrows two swapped events, with their tile, down to a checkpoint`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack(TamperedLog.swap)
        try log.fixTile(0)
        #expect(try await finding(log) == Finding(.rootDiffers, at: 200, notBefore: 101))
    }

    @Test
    func `verifying a log names two events of one stream that changed places with their tile`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack(TamperedLog.swap.replacing("151", with: "157"))
        try log.fixTile(0)
        #expect(try await finding(log) == Finding(.versionGap, at: 150, notBefore: 101))
    }

    // MARK: - Removed

    @Test func `verifying a log names a deleted event`() async throws {
        for position in [650, 150, 1] as [Int64] {
            let log = try await TamperedLog.sealed()
            try log.attack("delete from urd.event where position = \(position)")
            let expected =
                position == 650
                ? Finding(.removed, at: 650, notBefore: 601) : Finding(.removed, at: position)
            #expect(try await finding(log) == expected)
        }
    }

    @Test func `verifying a log names a deleted event after the others moved up`() async throws {
        let log = try await TamperedLog.sealed()
        try log.attack(
            "delete from urd.event where position = 150",
            "update urd.event set position = -position where position > 150",
            "update urd.event set position = -position - 1 where position < 0", repairing: true)
        #expect(try await finding(log) == Finding(.removed, at: 150))
    }

    @Test func `verifying a log names the first event of a deleted tail`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack("delete from urd.event where position > 650", repairing: true)
        #expect(try await finding(log) == Finding(.droppedTail, at: 651, notBefore: 601))
    }

    @Test func `verifying a log by the file alone notices a tail deleted with its checkpoints`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack(
            "delete from urd.event where position > 250", "delete from urd.tile",
            "delete from urd.checkpoint where size > 250", repairing: true)
        #expect(try await finding(log) == Finding(.droppedTail, at: 251, notBefore: 201))
    }

    @Test func `verifying a log notices deleted checkpoints that the file has`() async throws {
        let log = try await TamperedLog.sealed()
        try log.attack("delete from urd.checkpoint")
        #expect(try await finding(log) == Finding(.checkpointRemoved, at: 700))
    }

    @Test func `verifying a log notices a deleted realm`() async throws {
        let log = try await TamperedLog.sealed()
        try log.attack(
            "delete from urd.event", "delete from urd.tile", "delete from urd.checkpoint",
            "delete from urd.stream", "delete from urd.realm_log")
        #expect(try await finding(log) == Finding(.droppedTail, at: 1))
    }

    // MARK: - Inserted

    @Test func `verifying a log names an event appended without the key`() async throws {
        let log = try await TamperedLog.sealed()
        try log.attack(copy(694, to: 701, "version = version + 1"), repairing: true)
        try log.fixLeaf(at: 701)
        #expect(try await finding(log) == Finding(.forged, at: 701))
    }

    @Test func `verifying a log names an event inserted without the key`() async throws {
        let log = try await TamperedLog.sealed()
        try log.attack(
            "update urd.event set position = -position where position >= 150",
            "update urd.event set position = -position + 1 where position < 0",
            copy(149, to: 150, "stream = gen_random_uuid(), version = 1"), repairing: true)
        try log.fixLeaf(at: 150)
        #expect(try await finding(log) == Finding(.inserted, at: 150))
    }

    @Test func `verifying a log names an event that was appended a second time, also once sealed`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.dropUniqueness()
        try log.attack(copy(120, to: 701, "revision = revision"), repairing: true)
        #expect(try await finding(log) == Finding(.repeated, at: 701))
        try await log.sealer.sealOnce()
        #expect(try log.state().sealed == 701)
        #expect(try await finding(log) == Finding(.repeated, at: 701))
    }

    @Test func `verifying a log names a repeated position, or one below the first`() async throws {
        for position in [150, 0, -1, .min] as [Int64] {
            let log = try await TamperedLog.sealed()
            try log.dropUniqueness()
            try log.attack(copy(120, to: position, "version = 5000"))
            let found = try await finding(log)
            #expect(found?.position == position && found?.problem != nil)
        }
    }

    @Test func `verifying a log ends at an event at the last possible position`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack(copy(120, to: .max, "version = 5000"), repairing: true)
        #expect(try await finding(log) == Finding(.removed, at: 701))
        let sealer = log.makeSealer()
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == .missingEvent(position: 701))
    }

    private func copy(_ position: Int64, to place: Int64, _ change: String) -> String {
        """
        create table copied as select * from urd.event where position = \(position);
        update copied set position = \(place), \(change);
        insert into urd.event select * from copied;
        drop table copied
        """
    }

    /// A row of a binary COPY.
    private func row(_ record: Record, data: String, meta: String) -> [UInt8] {
        var row: [UInt8] = [0, 13]
        func add(_ field: [UInt8]?) {
            let length = field.map { Int32($0.count) } ?? -1
            row += (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
            row += field ?? []
        }
        add([0, 0, 0, 0, 0, 0, 0, 1])
        add([UInt8](repeating: 0, count: 8))
        add(record.command.bytes)
        add(Array(data.utf8))
        add(Array(meta.utf8))
        add([0, 1])
        add(nil)
        add(record.stream.bytes)
        add(nil)
        add(Array(record.type.utf8))
        add([0, 0, 0, 1])
        add([UInt8](repeating: 0, count: 32))
        add([UInt8](repeating: 0, count: 16))
        return row
    }
}

/// A short generator whose seed is printed when a test fails.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
