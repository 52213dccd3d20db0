import Glibc
import Testing

@testable import Compression

@Suite struct `Gzip` {
    /// What the program `gzip` makes of it; nil where it says that the file is not whole.
    private func unpacked(_ bytes: [UInt8]) throws -> [UInt8]? {
        var path = Array("/tmp/urd-gzip-XXXXXX".utf8CString)
        let file = mkstemp(&path)
        try #require(file >= 0)
        let name = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { unlink(name) }
        try #require(write(file, bytes, bytes.count) == bytes.count)
        close(file)
        let pipe = try #require(popen("gzip -dc <\(name) 2>/dev/null", "r"))
        var output: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&room, 1, room.count, pipe)
            if count == 0 { break }
            output += room[..<count]
        }
        return pclose(pipe) == 0 ? output : nil
    }

    @Test(arguments: [[], [0], [1, 100, 65_536], [300_000, 1], [65_535, 65_536, 65_537]])
    func `gzip reads what was put together of pieces`(_ sizes: [Int]) throws {
        var random = SystemRandomNumberGenerator()
        for isRandom in [false, true] {
            let encoder = try GzipEncoder()
            var (plain, packed): ([UInt8], [UInt8]) = ([], [])
            for (number, size) in sizes.enumerated() {
                let piece = (0..<size).map {
                    isRandom ? UInt8.random(in: 0...255, using: &random) : UInt8($0 % 7)
                }
                plain += piece
                packed += try encoder.add(piece, flushing: number % 2 == 1)
            }
            packed += try encoder.finish()
            #expect(try unpacked(packed) == plain)
            #expect(isRandom || plain.count < 1000 || packed.count < plain.count / 10)
        }
    }

    @Test func `a file that was cut is known for what it is`() throws {
        let encoder = try GzipEncoder()
        let packed = try encoder.add(Array(repeating: 7, count: 100_000), flushing: true)
        let end = try encoder.finish()
        #expect(try unpacked(packed + end) != nil)
        #expect(try unpacked(packed) == nil)
        #expect(try unpacked(packed + end.dropLast()) == nil)
    }

    @Test func `all that was flushed can be read before the end`() throws {
        let encoder = try GzipEncoder()
        let lines = Array("a line\n".utf8)
        #expect(try encoder.add(lines).count <= 10, "the header alone")
        #expect(try encoder.add([], flushing: true).count > 5)
    }

    @Test func `nothing comes after the end`() throws {
        let encoder = try GzipEncoder()
        _ = try encoder.finish()
        #expect(throws: CompressionFailure.ended) { try encoder.add([1]) }
        #expect(throws: CompressionFailure.ended) { try encoder.finish() }
    }
}
