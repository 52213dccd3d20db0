import Foundation
import MaxMind
import Testing

@Suite struct `Databases of addresses` {
    private static let zurich: DatabaseWriter.Value = .map([
        ("country", .map([("iso_code", .text("CH"))])),
        ("city", .map([("names", .map([("de", .text("Zürich")), ("en", .text("Zurich"))]))])),
        ("location", .map([("latitude", .double(47.3769)), ("longitude", .double(8.5417))])),
    ])

    private func opened(_ writer: DatabaseWriter) throws -> GeoDatabase {
        let path = try temporaryFile(writer.bytes)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try GeoDatabase(path: path)
    }

    @Test func `what is known of a network is read by the names that vendors use`() throws {
        var writer = DatabaseWriter()
        writer.add([81, 2, 69, 0], bits: 24, Self.zurich)
        writer.add(
            [89, 160, 0, 0], bits: 16,
            .map([("autonomous_system_number", .number(29518))]))
        // Flat, as IPinfo has them.
        writer.add(
            [0x20, 0x01, 0x16, 0x90] + Array(repeating: 0, count: 12), bits: 32,
            .map([
                ("country", .text("United States")), ("country_code", .text("US")),
                ("city", .text("New York")), ("asn", .text("AS13335")), ("lat", .text("40.7")),
                ("lng", .text("-74.006")),
            ]))
        let database = try opened(writer)
        #expect(database.type == "Test-City")
        #expect(database.builtAt == 1_790_000_000)
        let found = try #require(database.entry(of: [81, 2, 69, 142]))
        #expect(found.country == "CH" && found.city == "Zurich" && found.asn == nil)
        #expect(found.coordinates?.latitude == 47.3769 && found.coordinates?.longitude == 8.5417)
        #expect(database.entry(of: [89, 160, 20, 1])?.asn == 29518)
        let flat = try #require(
            database.entry(of: [0x20, 0x01, 0x16, 0x90] + Array(repeating: 1, count: 12)))
        #expect(flat.country == "US" && flat.city == "New York" && flat.asn == 13335)
        #expect(flat.coordinates?.longitude == -74.006)
        #expect(database.entry(of: [9, 9, 9, 9]) == nil)
        #expect(database.entry(of: [1, 2, 3]) == nil)
    }

    @Test func `values of other types and lengths are left out`() throws {
        var writer = DatabaseWriter()
        writer.add(
            [81, 2, 69, 0], bits: 24,
            .map([
                ("country", .map([("iso_code", .text("che"))])),
                ("city", .map([("names", .map([("en", .number(7))]))])),
                ("location", .map([("latitude", .double(47)), ("longitude", .text("east"))])),
                ("asn", .text("AS1x")),
            ]))
        let found = try #require(try opened(writer).entry(of: [81, 2, 69, 1]))
        #expect(found.country == nil && found.city == nil && found.asn == nil)
        #expect(found.coordinates == nil)
    }

    @Test func `a part of a file, another file and none are refused`() throws {
        var writer = DatabaseWriter()
        writer.add([81, 2, 69, 0], bits: 24, Self.zurich)
        let whole = writer.bytes
        for part in [0, 10, whole.count / 2, whole.count - 40] {
            let path = try temporaryFile(Array(whole.prefix(part)))
            defer { try? FileManager.default.removeItem(atPath: path) }
            #expect(throws: GeoDatabase.Failure.malformed) { try GeoDatabase(path: path) }
        }
        // Its end is there, and its tree leads out of it.
        var broken = whole
        for index in 0..<6 { broken[index] = 0xFF }
        let path = try temporaryFile(broken)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: GeoDatabase.Failure.malformed) { try GeoDatabase(path: path) }
        #expect(throws: GeoDatabase.Failure.unreadable(code: 2)) {
            try GeoDatabase(path: "/nowhere/places.mmdb")
        }
        #expect(throws: GeoDatabase.Failure.unreadable(code: 22)) { try GeoDatabase(path: "/tmp") }
    }

    @Test func `a file that is cut off beneath it changes nothing`() throws {
        var writer = DatabaseWriter()
        writer.add([81, 2, 69, 0], bits: 24, Self.zurich)
        let path = try temporaryFile(writer.bytes)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let database = try GeoDatabase(path: path)
        #expect(truncate(path, 0) == 0)
        #expect(database.entry(of: [81, 2, 69, 142])?.country == "CH")
    }
}
