import API
import JSON
import Testing

@testable import urd

@Suite struct `A table` {
    private static let id = "253ed993-e983-8cdc-bf3f-5bf0a89f9f18"

    @Test func `a table that is too wide shortens ids in the middle and texts at the end`() {
        var table = Table(titles: ["id", "mailbox", "name"], overflow: .shorten)
        table.add([Self.id, Self.id, String(repeating: "n", count: 80)])
        let lines = table.render(width: 100).split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 100 })
        #expect(lines[1].hasPrefix("\(Self.id)  253ed993…9f9f18  nnn"))
        #expect(lines[1].hasSuffix("n…"))
        #expect(table.render().contains(String(repeating: "n", count: 80)))
    }

    @Test func `a table of a single entry wraps its values whole`() {
        var table = Table("name", "value")
        let words = (1...60).map { "word\($0)" }
        table.add("scope", words.joined(separator: " "))
        table.add("key", String(repeating: "k", count: 250))
        let lines = table.render(width: 100).split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { $0.count <= 100 })
        let text = lines.joined(separator: " ")
        #expect(words.allSatisfy { text.contains($0) })
        #expect(text.filter { $0 == "k" }.count == 251)
        // No line of a value can be taken for a row.
        #expect(
            lines.dropFirst().allSatisfy {
                ["scope", "key  "].contains($0.prefix(5)) || $0.hasPrefix("       ")
            })
    }

    @Test func `a table fits the widest cells of every list`() {
        for operation in API.operations
        where !operation.columns.isEmpty && operation.words != nil {
            let columns = ListColumns.defaults[operation.id] ?? operation.columns
            let item = JSON.object(
                JSONObject(columns.map { ($0, .string(String(repeating: "w", count: 80))) }))
            let text = Table(listing: [item], columns: columns).render(width: Table.width)
            let widest = text.split(separator: "\n").map(\.count).max() ?? 0
            #expect(widest <= Table.width, "\(operation.id): \(widest)")
        }
    }

    @Test func `a table's default columns exist in its list`() {
        let person: Set = ["email", "phone", "first_name", "last_name"]
        for (id, columns) in ListColumns.defaults {
            let known = API.operations.first { $0.id == id }?.columns ?? []
            #expect(person.union(known).isSuperset(of: columns), "\(id)")
        }
    }

    @Test func `a table shows times to the second`() {
        let item: JSON = ["at": "2026-11-22T01:23:45.123456Z"]
        #expect(Table(listing: [item], columns: ["at"]).render() == "AT\n2026-11-22 01:23:45")
        #expect(
            Table(listing: [item], columns: ["at"], isWhole: true).render()
                == "AT\n2026-11-22T01:23:45.123456Z")
    }
}
