import EventSourcing
import Testing

@testable import urd

@Suite struct `The files of an export that goes on` {
    private func files(_ folder: String) throws -> ExportRotation {
        ExportRotation(
            folder: folder, realm: try #require(RealmID("acme")), fileExtension: "ndjson")
    }

    @Test func `a file's name says which positions are in it and where to go on`() throws {
        let files = try files("/nowhere")
        let end = LogCursor(epoch: 2, position: 700)
        let name = files.name(after: LogCursor(epoch: 2, position: 41), to: end)
        #expect(name == "acme-2-000000000000042-000000000000700.ndjson")
        #expect(files.end(of: name) == end)
        for other in [
            "acme-2-000000000000042-000000000000700.ndjson.sha256", "acme-2-42-700.ndjson",
            "other-2-000000000000042-000000000000700.ndjson",
            "acme-2-000000000000042-000000000000700.csv",
            "acme-2-000000000000042-000000000000700.ndjson.77.part",
        ] {
            #expect(files.end(of: other) == nil)
        }
    }

    @Test func `an export goes on behind its newest file, or what is kept beside it`() throws {
        let folder = try File.makeTemporaryFolder("urd-rotation")
        defer { try? File.removeTree(folder) }
        let files = try files(folder)
        #expect(try files.place() == nil)
        for (first, last) in [(0, 9), (9, 120)] {
            let name = files.name(
                after: LogCursor(epoch: 1, position: Int64(first)),
                to: LogCursor(epoch: 1, position: Int64(last)))
            try File.writeAtomically([1], to: "\(folder)/\(name)", mode: 0o600)
        }
        #expect(try files.place() == LogCursor(epoch: 1, position: 120))
        try files.cursorFile.write(LogCursor(epoch: 1, position: 130))
        #expect(try files.place() == LogCursor(epoch: 1, position: 130))
    }

    @Test func `what a crash left is tidied up`() throws {
        let folder = try File.makeTemporaryFolder("urd-rotation")
        defer { try? File.removeTree(folder) }
        let files = try files(folder)
        let name = files.name(
            after: LogCursor(epoch: 1, position: 0), to: LogCursor(epoch: 1, position: 9))
        try File.writeAtomically(Array("abc".utf8), to: "\(folder)/\(name)", mode: 0o600)
        try File.writeAtomically([1], to: "\(folder)/\(name).77.part", mode: 0o600)
        try files.tidy()
        #expect(try File.names(in: folder).sorted() == [name, name + ".sha256"])
        #expect(
            try File.text("\(folder)/\(name).sha256")
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  \(name)\n")
    }

    @Test func `a draft has its name only once it is whole`() throws {
        let folder = try File.makeTemporaryFolder("urd-draft")
        defer { try? File.removeTree(folder) }
        let path = "\(folder)/a"
        let draft = try DraftFile(path)
        try draft.write(Array("ab".utf8))
        #expect(!File.exists(path))
        try draft.write(Array("c".utf8))
        #expect(try draft.publish().hasPrefix("ba7816bf"))
        #expect(try File.text(path) == "abc")
        try DraftFile(path).write([1])
        #expect(try File.names(in: folder) == ["a"])
        #expect(try File.text(path) == "abc")
    }
}
