import EventSourcing
import HTTP
import Identity
import JSON
import Testing

@testable import API

@Suite struct `The documents that describe events` {
    @Test func `each type and revision has a public schema that caches may keep`() async throws {
        let world = try await World()
        for shape in EventCatalogue.all {
            let answer = try await world.send(
                .get, "/schemas/events/\(shape.name)/\(shape.revision)")
            #expect(answer.status == .ok)
            #expect(answer.response.headers["Content-Type"] == "application/schema+json")
            #expect(answer.response.headers["Cache-Control"] == "public, max-age=3600")
            #expect(answer.json["title"] == .string(shape.name))
            #expect(answer.json["additionalProperties"] == false)
            let properties = try #require(answer.json["properties"]?.object)
            let required = (answer.json["required"]?.array ?? []).compactMap(\.string)
            for field in shape.fields {
                let schema = properties[field.name]
                switch field.visibility {
                case .open:
                    #expect(schema?["x-urd-visibility"] == "open")
                    #expect(required.contains(field.name) == field.isRequired)
                case .personal:
                    #expect(schema?["x-urd-visibility"] == "personal")
                    #expect(!required.contains(field.name))
                case .neverLeaves: #expect(schema == nil, "\(shape.name).\(field.name)")
                }
                if let schema { #expect(schema["description"] == .string(field.sentence)) }
            }
        }
    }

    @Test func `a schema says format, pattern and choices of its fields`() async throws {
        let world = try await World()
        func field(_ name: String, of type: String) async throws -> JSON? {
            try await world.send(.get, "/schemas/events/\(type)/1").json["properties"]?[name]
        }
        #expect(try await field("account", of: "session.opened")?["format"] == "uuid")
        #expect(try await field("public_key", of: "passkey.enrolled")?["pattern"] != nil)
        #expect(
            try await field("reason", of: "session.ended")?["enum"]?.array?.contains("reuse")
                == true)
        #expect(try await field("$address", of: "session.ended")?["type"] == "string")
    }

    @Test func `an unknown type or revision is refused with the name that was meant`() async throws
    {
        let world = try await World()
        let slip = try await world.send(.get, "/schemas/events/sesion.ended/1")
        #expect(slip.problem == .noSuchEventType)
        #expect(
            slip.json["detail"]
                == "There is no event type 'sesion.ended'; did you mean session.ended?")
        let other = try await world.send(.get, "/schemas/events/session.ended/2")
        #expect(other.problem == .noSuchEventType && other.json["field"] == "revision")
        let wild = try await world.send(.get, "/schemas/events/..%2Fx/1")
        #expect(wild.problem == .invalidParameter)
    }

    @Test func `the envelope's schema describes the members that events are sent with`()
        async throws
    {
        let world = try await World()
        let schema = try await world.send(.get, "/schemas/events/envelope").json
        let members = Set(schema["properties"]?.object?.keys.map { $0 } ?? [])
        #expect(members.isSuperset(of: EventEnvelope.example.object?.keys.map { $0 } ?? ["x"]))
        #expect(schema["additionalProperties"] == nil)
        #expect(schema["$id"] == "/schemas/events/envelope")
    }

    @Test
    func `the AsyncAPI document has a message for each type, and each reference leads somewhere`()
        async throws
    {
        let document = try await World().send(.get, "/asyncapi.json").json
        #expect(document["asyncapi"] == "3.0.0")
        let messages = try #require(document["components"]?["messages"]?.object)
        // Of each event in the feed and in webhooks, and what the two say themselves.
        let frames = ControlFrame.ofFeeds.count + ControlFrame.ofReplays.count
        let expected: Int = 2 * (EventCatalogue.all.count + frames + 1)
        #expect(messages.count == expected)
        for shape in EventCatalogue.all {
            let message = messages["\(shape.name).\(shape.revision)"]
            #expect(message?["name"] == .string(shape.name))
            let posted = messages["webhook.\(shape.name).\(shape.revision)"]
            let body = posted?["payload"]?["allOf"]?[0]
            #expect(body?["properties"]?["data"] == message?["payload"])
            #expect(body?["required"] == ["type", "timestamp", "data"])
            #expect(message?["x-urd-to"]?.string.map { "SAI".contains($0) } == true)
            #expect(
                message?["x-urd-caep"]?.array?.count == SignalTable.rules(for: shape.name).count)
            #expect(message?["x-urd-ocsf"]?.array?.count == OCSFTable.rules(for: shape.name).count)
        }
        var references = 0
        func follow(_ value: JSON) {
            for element in value.array ?? [] { follow(element) }
            for (name, member) in value.object ?? [:] {
                guard name == "$ref", let path = member.string else {
                    follow(member)
                    continue
                }
                references += 1
                let end = path.split(separator: "/").dropFirst().reduce(JSON?.some(document)) {
                    $0?[String($1)]
                }
                #expect(end != nil, "\(path)")
            }
        }
        follow(document)
        #expect(references > 3 * messages.count)
        #expect(document["channels"]?["feed"]?["address"] == "/api/admin/realms/{realm}/feed")
    }
}
