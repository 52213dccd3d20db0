import Testing

@testable import urd

@Suite("What the kernel says of this process")
struct ProcessFiguresTests {
    @Test func `the figures of a process are those of proc`() throws {
        let stat = "42 (a (b) c) S 1 1 1 0 -1 0 9 0 3 0 250 50 0 0 20 0 7 0 1000 8192 3 0"
        let found = try #require(
            ProcessFigures(
                stat: stat, machine: "cpu 1\nbtime 1700000000\n", openFiles: 5, mostFiles: 1024,
                ticks: 100, page: 4096))
        #expect(found.cpuSeconds == 3)
        #expect(found.threads == 7)
        #expect(found.startTime == 1_700_000_010)
        #expect(found.virtualBytes == 8192)
        #expect(found.residentBytes == 3 * 4096)
        let own = try #require(ProcessFigures.read())
        #expect(own.residentBytes > 1_000_000 && own.openFiles > 2 && own.threads >= 1)
    }
}
