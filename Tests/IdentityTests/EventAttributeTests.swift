import EventSourcing
import Identity
import JSON
import Testing
import Values

@Suite struct `What a filter may ask of events` {
    @Test func `no field that an event keeps to itself is an attribute`() {
        let hidden = Set(
            EventCatalogue.all.flatMap(\.fields).filter { $0.visibility == .neverLeaves(.plain) }
                .map(\.name))
        #expect(hidden.contains("secret_digest") && hidden.contains("digest"))
        for vocabulary in [
            EventAttributes.ofEvents, EventAttributes.ofSignIns, EventAttributes.ofServices,
        ] {
            for name in hidden { #expect(vocabulary["fields.\(name)"] == nil, "\(name)") }
            // Sealed wherever it is: there is nothing to compare.
            #expect(vocabulary["fields.first_name"] == nil)
            #expect(vocabulary["fields.$address"] == nil)
        }
    }

    @Test func `every open field is an attribute, with the types that events give it`() throws {
        let all = EventAttributes.ofEvents
        for shape in EventCatalogue.all {
            for field in shape.fields where field.visibility == .open {
                #expect(all["fields.\(field.name)"] != nil, "\(shape.name) \(field.name)")
            }
        }
        #expect(all["fields.to"]?.kinds == [.text, .integer, .time])
        #expect(all["fields.left"]?.kinds == .id)
        #expect(all["fields.roles"]?.operations == [.present])
        #expect(all["fields.due"]?.kinds == .time)
    }

    @Test func `the outcome of a sign-in follows from its type`() throws {
        let asked = try FilterParser.expression(
            of: #"outcome eq "refused" and reason pr"#, EventAttributes.ofServices)
        let place = SignInPlace(source: "there")
        let refused = recorded(
            SessionEvent.refused(
                RefusedSignIn(
                    method: .nativeOTP, reason: "invalid_code", account: nil, client: client,
                    clientID: "phone", app: nil, from: place)))
        #expect(asked.holds(for: refused))
        #expect(!asked.holds(for: recorded(SessionEvent.ended(.revoked, notice: nil, from: place))))
    }
}
