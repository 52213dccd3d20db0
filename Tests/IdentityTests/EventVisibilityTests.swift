import EventSourcing
import Identity
import JSON
import Testing

@Suite struct `What readers of events are shown` {
    private func all(of shape: EventShape) -> JSONObject {
        var fields: JSONObject = [:]
        for field in shape.fields { fields[field.name] = .string(field.name) }
        return fields
    }

    @Test func `no digest, hash, wrapped key or secret of any event is shown to anyone`() {
        var hidden = 0
        for shape in EventCatalogue.all {
            let fields = all(of: shape)
            let shown = EventVisibility.open(fields, of: shape.name).merging(
                EventVisibility.personal(fields, of: shape.name, to: .administrators)
            ) { $1 }
            for field in shape.fields {
                guard case .neverLeaves = field.visibility else { continue }
                hidden += 1
                #expect(shown[field.name] == nil, "\(shape.name).\(field.name)")
            }
        }
        #expect(hidden >= 20)
    }

    @Test func `open and personal fields are shown apart, and each to its reader`() {
        for shape in EventCatalogue.all {
            let fields = all(of: shape)
            let open = EventVisibility.open(fields, of: shape.name)
            let person = EventVisibility.personal(fields, of: shape.name, to: .person)
            let admin = EventVisibility.personal(fields, of: shape.name, to: .administrators)
            for field in shape.fields {
                let name = field.name
                switch field.visibility {
                case .open: #expect(open[name] != nil && admin[name] == nil)
                case .personal(.person): #expect(person[name] != nil && open[name] == nil)
                case .personal(.administrators): #expect(person[name] == nil && admin[name] != nil)
                case .neverLeaves: #expect(open[name] == nil && admin[name] == nil)
                }
            }
        }
    }

    @Test func `a field or an event that the catalogue does not know is not shown`() {
        #expect(EventVisibility.open(["digest2": "x"], of: "otp.issued").isEmpty)
        #expect(EventVisibility.open(["account": "x"], of: "no.such_event").isEmpty)
        #expect(
            EventVisibility.personal(["note": "x"], of: "no.such_event", to: .administrators)
                .isEmpty)
    }
}
