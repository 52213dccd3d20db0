import EventSourcing
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `The forms of an export` {
    private let realm = RealmID("acme")

    private func event(_ fields: JSONObject) throws -> Recorded {
        Recorded(
            realm: try #require(realm), position: 7, stream: UUID(high: 1, low: 1), version: 1,
            name: "client.registered", revision: 1,
            at: Timestamp(microseconds: 1_800_000_000_000_000),
            command: UUID(high: 2, low: 2), subject: nil, actor: "=cmd|' /C calc'!A0", client: nil,
            correlation: nil, leaf: try #require(LeafHash([UInt8](repeating: 1, count: 32))),
            open: fields, personal: .none)
    }

    private func form(_ format: ExportForm.Format) -> ExportForm {
        ExportForm(format: format, issuer: "https://id.example.org", version: "1.2.3")
    }

    private func lines(_ format: ExportForm.Format, epoch: Int) throws -> [UInt8] {
        var lines: [UInt8] = []
        form(format).write(try event([:]), epoch: epoch, knowing: OCSFFacts(), into: &lines)
        return lines
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `a cell of CSV that begins like a formula gets an apostrophe`() throws {
        let row = text(try lines(.csv, epoch: 1))
        #expect(row.contains(",'=cmd|' /C calc'!A0,"))
        #expect(row.hasPrefix("1:7,"))
        #expect(row.hasSuffix("\r\n"))
        let titles = text(form(.csv).header)
        #expect(titles.split(separator: ",").count == 14)
    }

    @Test(arguments: ExportForm.Format.allCases)
    func `an export's last line has the form of the others`(_ format: ExportForm.Format) throws {
        let footer = text(
            form(format).footer(
                ["count": 3, "cursor": "1:9"], of: try #require(realm),
                at: Timestamp(microseconds: 1_800_000_000_000_000), id: UUID(high: 1, low: 9)))
        if format == .csv {
            #expect(footer.split(separator: ",", omittingEmptySubsequences: false).count == 15)
            #expect(footer.hasPrefix("1:9,,2027-01-15T08:00:00.000000Z,urd.export_end,"))
            return
        }
        let json = try JSON.parse(Array(footer.utf8.dropLast()))
        switch format {
        case .ndjson, .csv: #expect(json["type"] == "urd.export_end")
        case .ocsf: #expect(json["unmapped"]?["data"]?["count"] == 3)
        case .cloudevents: #expect(json["type"] == "dev.urd.urd.export_end")
        }
    }

    @Test func `a CloudEvent of an export says where reading goes on behind it`() throws {
        let line = try lines(.cloudevents, epoch: 2)
        #expect(try JSON.parse(Array(line.dropLast()))["urdcursor"] == "2:7")
    }
}
