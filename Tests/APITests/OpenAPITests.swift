import HTTP
import JSON
import Testing

@testable import API

@Suite struct `The OpenAPI document` {
    private let document: JSON

    init() throws {
        document = try JSON.parse(API.document)
    }

    @Test func `the OpenAPI document has exactly the routes of the table`() throws {
        #expect(document["openapi"] == "3.1.0")
        var operations: Set<String> = []
        for (_, methods) in try #require(document["paths"]?.object) {
            for (_, operation) in try #require(methods.object) {
                operations.insert(try #require(operation["operationId"]?.string))
            }
        }
        #expect(
            operations
                == Set((API.table.map(\.id)) + (API.realmTable + API.flagshipTable).map(\.id)))
    }

    @Test func `the OpenAPI document's references all lead to components of it`() throws {
        let known = try #require(document["components"]?["schemas"]?.object)
        var used: Set<String> = []
        visit(document) { value in
            if let reference = value["$ref"]?.string {
                let prefix = "#/components/schemas/"
                if reference.hasPrefix(prefix) {
                    used.insert(String(reference.dropFirst(prefix.count)))
                } else {
                    #expect(
                        ProblemKind(
                            rawValue: reference.split(separator: "/").last.map(String.init) ?? "")
                            != nil)
                }
            }
        }
        #expect(used.isSubset(of: known.keys))
        #expect(used == Set(known.keys), "a component that nothing refers to")
    }

    @Test func `the OpenAPI document closes its objects and bounds its texts`() throws {
        for route in API.table {
            guard let body = route.body else { continue }
            visitSchemas(body.schema) { schema in
                switch schema {
                case .text(let rule): #expect(rule.length.upperBound < 1_000_000)
                case .integer, .boolean, .list, .object, .openObject, .judged, .map, .nullable,
                    .named:
                    break
                case .anything: Issue.record("\(route.id) takes anything somewhere")
                }
            }
        }
        visit(document) { value in
            if value["type"] == "object", value["properties"]?.object != nil {
                #expect(value["additionalProperties"] == false)
            }
        }
    }

    @Test func `the OpenAPI document asks for the admin key where the route table does`() throws {
        for route in API.table {
            let method = route.method.rawValue.lowercased()
            let operation = document["paths"]?[route.path.description]?[method]
            let isOpen = operation?["security"]?.array?.isEmpty
            #expect(isOpen == (route.right == .nothing))
            #expect(operation?["responses"]?["500"] != nil)
            if !(route.right == .nothing) {
                for status in ["401", "403", "503"] {
                    #expect(operation?["responses"]?[status] != nil)
                }
            }
        }
    }

    @Test func `the operations, schemas and refusals are those of the golden list`() throws {
        try GoldenFile(name: "operations.txt").expect(OperationList.text(of: document))
    }

    @Test func `the OpenAPI document is byte for byte the same each time`() {
        let again = OpenAPI.document(
            of: API.outlines, title: "Urd", version: "0.1.0",
            description: document["info"]?["description"]?.string ?? "")
        #expect(again.canonical() == API.document)
    }

    private func visit(_ value: JSON, _ look: (JSON) -> Void) {
        look(value)
        for element in value.array ?? [] { visit(element, look) }
        for (name, member) in value.object ?? [:] where !["example", "examples"].contains(name) {
            visit(member, look)
        }
    }

    private func visitSchemas(_ schema: Schema, _ look: (Schema) -> Void) {
        look(schema)
        switch schema {
        case .list(let element, _, _): visitSchemas(element, look)
        case .object(let rule):
            for member in rule.members { visitSchemas(member.schema, look) }
        case .map(let inner), .nullable(let inner), .named(_, let inner), .judged(let inner):
            visitSchemas(inner, look)
        case .text, .integer, .boolean, .openObject, .anything: break
        }
    }
}
