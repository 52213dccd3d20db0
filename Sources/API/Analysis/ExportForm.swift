internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// How an export is written: lines that can be read one by one, the last of which says what the others are.
struct ExportForm: Sendable {
    enum Format: String, CaseIterable, Sendable {
        case ndjson, csv, ocsf, cloudevents

        var mediaType: String {
            switch self {
            case .csv: "text/csv; charset=utf-8"
            case .ndjson, .ocsf, .cloudevents: "application/x-ndjson"
            }
        }

        var fileExtension: String { self == .csv ? "csv" : "ndjson" }
    }

    let format: Format
    /// What CloudEvents come from, and where schemas are.
    let issuer: String
    /// Of Urd.
    let version: String

    /// What the last line is called.
    static let end = "urd.export_end"

    private static let columns = [
        "cursor", "id", "at", "type", "stream", "version", "subject", "actor", "client",
        "correlation", "command", "leaf", "personal", "data",
    ]

    var header: [UInt8] {
        format == .csv ? Self.row(Self.columns) : []
    }

    /// An event's lines: one, but in OCSF, where one event may be two records, or none.
    func write(
        _ event: Recorded, epoch: Int, knowing facts: OCSFFacts, into output: inout [UInt8]
    ) {
        let envelope = EventEnvelope(event, epoch: epoch, issuer: issuer)
        switch format {
        case .ndjson:
            envelope.write(into: &output)
            output.append(0x0A)
        case .csv: output += Self.row(Self.cells(envelope.json))
        case .ocsf:
            for record in OCSFEvent(envelope, knowing: facts, version: version).records() {
                output += Self.line(record)
            }
        case .cloudevents:
            var members = CloudEvent(envelope).json.object ?? [:]
            members["urdcursor"] = .string(
                LogCursor(epoch: epoch, position: event.position).description)
            output += Self.line(.object(members))
        }
    }

    /// The last line, of the same form as the others.
    func footer(_ members: JSONObject, of realm: RealmID, at now: Timestamp, id: UUID) -> [UInt8] {
        let data = JSON.object(members)
        switch format {
        case .ndjson: return Self.line(["type": .string(Self.end), "data": data])
        case .csv:
            var cells = Self.columns.map { _ in "" }
            cells[0] = members["cursor"]?.string ?? ""
            cells[2] = now.description
            cells[3] = Self.end
            cells[cells.count - 1] = String(decoding: data.canonical(), as: UTF8.self)
            return Self.row(cells)
        case .ocsf: return Self.line(record(data, of: realm, at: now, id: id))
        case .cloudevents:
            return Self.line([
                "specversion": "1.0", "id": .string(id.description), "source": .string(issuer),
                "type": .string(CloudEvent.typePrefix + Self.end), "time": .string(now.description),
                "datacontenttype": "application/json", "data": data,
            ])
        }
    }

    /// Of the class Base Event, which says nothing but that there is something.
    private func record(
        _ data: JSON, of realm: RealmID, at now: Timestamp, id: UUID
    ) -> JSON {
        [
            "class_uid": 0, "category_uid": 0, "activity_id": 99, "type_uid": 99,
            "activity_name": .string(Self.end), "severity_id": 1,
            "time": .integer(now.milliseconds),
            "metadata": [
                "version": .string(OCSFTable.version), "uid": .string(id.description),
                "event_code": .string(Self.end), "log_name": .string(realm.name),
                "product": ["name": "Urd", "vendor_name": "Urd", "version": .string(version)],
            ],
            "unmapped": ["data": data],
        ]
    }

    private static func line(_ json: JSON) -> [UInt8] { json.canonical() + [0x0A] }

    private static func row(_ cells: [String]) -> [UInt8] {
        Array(cells.map(CSVCell.quoted).joined(separator: ",").utf8) + [0x0D, 0x0A]
    }

    private static func cells(_ event: JSON) -> [String] {
        columns.map { column in
            switch event[column] {
            case nil, .null?: ""
            case .string(let text)?: CSVCell.harmless(text)
            case let value?: String(decoding: value.canonical(), as: UTF8.self)
            }
        }
    }
}
