import Cryptography
import EventSourcing
import HTTP
import JSON
import Testing
import Values

@testable import API

private let writing = API.table.filter { $0.right != .nothing && $0.body != nil }

/// A private key pasted into the wrong member of any command of the administration.
@Suite struct `A private key in the wrong place` {
    /// Ed25519, in the shortest form that it has: it fits into most names.
    private let der: [UInt8] =
        [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22, 4, 0x20] + Random.bytes(32)

    private var texts: [String] {
        let digits = Base64.encode(der)
        return ["-----BEGIN PRIVATE KEY-----\n\(digits)\n-----END PRIVATE KEY-----\n", digits]
    }

    private var jwk: JSON {
        [
            "kty": "OKP", "crv": "Ed25519", "x": .string(Base64URL.encode(Random.bytes(32))),
            "d": .string(Base64URL.encode(Random.bytes(32))),
        ]
    }

    /// The values of a member that have a key in them, wherever its schema leaves room for one.
    private func values(_ schema: Schema, _ example: JSON?) -> [JSON] {
        switch schema {
        case .named(_, let schema), .nullable(let schema), .judged(let schema):
            return values(schema, example)
        case .text: return texts.map { .string($0) }
        case .list(let element, _, _):
            let before = Array((example?.array ?? []).prefix(1))
            return values(element, before.first).map { .array(before + [$0]) }
        case .object(let rule):
            guard let known = example?.object else { return [] }
            return rule.members.flatMap { member in
                values(member.schema, known[member.name]).map { value in
                    .object(known.merging([member.name: value]) { $1 })
                }
            }
        case .map(let element):
            let before = example?.object.flatMap { members in members.map { $0.value }.first }
            return values(element, before).map { .object(["a name": $0]) }
        case .openObject, .anything:
            let inner: [JSON] = texts.map { .object(["inner": .string($0)]) }
            return inner + [.object(["inner": jwk]), jwk]
        case .integer, .boolean: return []
        }
    }

    private static func members(_ schema: Schema) -> [Member]? {
        switch schema {
        case .named(_, let schema), .nullable(let schema), .judged(let schema): members(schema)
        case .object(let rule): rule.members
        case .text, .integer, .boolean, .list, .openObject, .map, .anything: nil
        }
    }

    @Test(arguments: writing.map(\.id))
    func `a private key is refused in every member of every command, by the member's name`(
        _ id: String
    ) async throws {
        let route = try #require(writing.first { $0.id == id })
        let body = try #require(route.body)
        let members = try #require(Self.members(body.schema), "\(id) takes no object")
        let world = try await World()
        let example = try #require(try world.example(of: route)?.object)
        let before = world.log.revision
        for member in members where DisclosedKeys.secrets[id]?.contains(member.name) != true {
            for value in values(member.schema, example[member.name]) {
                let answer = try await world.send(
                    route.method, world.path(route),
                    body: .object(example.merging([member.name: value]) { $1 }))
                #expect(answer.problem == .invalidField, "\(member.name): \(answer.json)")
                #expect(
                    answer.field == member.name
                        || answer.field?.hasPrefix(member.name + "/") == true,
                    "\(member.name): \(answer.json)")
                let said = String(decoding: answer.response.body, as: UTF8.self)
                #expect(!said.contains(String(Base64.encode(der).suffix(24))), "\(member.name)")
            }
        }
        #expect(world.log.revision == before, "Nothing is on record.")
    }

    @Test func `members that take secrets are those that are sealed`() throws {
        for (id, names) in DisclosedKeys.secrets {
            let route = try #require(writing.first { $0.id == id }, "\(id)")
            let members = try #require(route.body.flatMap { Self.members($0.schema) }, "\(id)")
            #expect(names.isSubset(of: members.map(\.name)), "\(id)")
        }
        #expect(
            DisclosedKeys.secrets.values.reduce(0) { $0 + $1.count } == 10,
            "each is an exception of its own: what it takes is sealed, or handed on to such a one")
    }

    @Test func `a private key is refused in the reason for looking at a person, too`() async throws
    {
        let world = try await World()
        let account = try #require(world.names["account_id"])
        let answer = try await world.send(
            .get, "/api/admin/realms/acme/accounts/\(account)",
            query: "open=true&reason=\(Percent.encode(Base64.encode(der)))")
        #expect(answer.problem == .invalidParameter && answer.field == "reason", "\(answer.json)")
    }
}
