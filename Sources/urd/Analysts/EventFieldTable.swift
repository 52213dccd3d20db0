import EventSourcing
import Identity
import Postgres

/// What of the events analysts see in SQL, as this program's catalogue has it (docs/event-visibility.md).
enum EventFieldTable {
    static func write(to address: String) throws(Postgres.Failure) {
        var columns = (0..<5).map { _ in ArrayParameter(of: .text) }
        for row in rows {
            for (index, text) in row.enumerated() { columns[index].append(text) }
        }
        var parameters = Parameters()
        parameters.add(columns)
        // Several nodes may do so at once: in one order, they do not wait for each other in a circle.
        try Connection(address, application: "urd migrate").executeOnce(
            """
            insert into urd.event_field as f (type, field, kind, visibility, sentence)
            select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
            on conflict (type, field) do update
                set kind = excluded.kind, visibility = excluded.visibility,
                    sentence = excluded.sentence
                where (f.kind, f.visibility, f.sentence) is distinct from
                    (excluded.kind, excluded.visibility, excluded.sentence)
            """, parameters)
    }

    /// A field that a former revision had is shown as the most careful of them says.
    static let rows: [[String]] = {
        var fields: [String: [String: EventField]] = [:]
        for shape in EventCatalogue.all {
            for field in shape.fields {
                let known = fields[shape.name]?[field.name]
                if let known, care(known) > care(field) { continue }
                fields[shape.name, default: [:]][field.name] = field
            }
        }
        return fields.sorted { $0.key < $1.key }.flatMap { type, fields in
            fields.sorted { $0.key < $1.key }.map { name, field in
                [type, name, field.type.description, word(field), field.sentence]
            }
        }
    }()

    private static func care(_ field: EventField) -> Int {
        switch field.visibility {
        case .open: 0
        case .personal: 1
        case .neverLeaves: 2
        }
    }

    private static func word(_ field: EventField) -> String {
        ["open", "personal", "never-leaves"][care(field)]
    }
}
