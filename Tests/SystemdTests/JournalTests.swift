import Glibc
import Testing

@testable import Systemd

@Suite struct `The journal` {
    @Test func `the journal is recognised by the descriptor's device and inode`() async {
        await #expect(processExitsWith: .success) {
            unsetenv("JOURNAL_STREAM")
            #expect(!Journal.receives())
            var status = stat()
            fstat(2, &status)
            setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino)", 1)
            #expect(Journal.receives())
            #expect(!Journal.receives(-1))
            for wrong in ["", ":", "1", "1:2:3", "a:b", "\(status.st_dev):\(status.st_ino &+ 1)"] {
                setenv("JOURNAL_STREAM", wrong, 1)
                #expect(!Journal.receives())
            }
        }
    }

    @Test func `the journal gets each line with its priority in one write`() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        Journal.write(Array("{}\n".utf8), priority: 3, to: ends[0])
        Journal.write(Array("{}\n".utf8), priority: 99, to: ends[0])
        for expected in ["<3>{}\n", "<7>{}\n"] {
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = read(ends[1], &buffer, buffer.count)
            try #require(count > 0)
            #expect(String(decoding: buffer[..<count], as: UTF8.self) == expected)
        }
        Journal.write(Array("{}\n".utf8), priority: 3, to: -1)
    }
}
