import Cryptography
import Foundation
import Testing

@testable import urd

@Suite struct `The list of passphrases that others lost` {
    private func digest(_ text: String) throws -> String {
        try HashFunction.sha1.hash(Array(text.utf8)).map { String(format: "%02X", $0) }.joined()
    }

    @Test(arguments: [0, 1, 2, 3, 50, 1000], [true, false])
    func `is found in, whatever its length`(_ count: Int, _ isCounted: Bool) throws {
        let known = (0..<count).map { "known \($0)" }
        var lines = try known.map(digest).sorted()
        if isCounted { lines = lines.enumerated().map { "\($0.element):\($0.offset * 37)" } }
        let path =
            NSTemporaryDirectory()
            + "urd-list-\(ProcessInfo.processInfo.processIdentifier)-\(count)-\(isCounted)"
        // The last line may end or not.
        let text = lines.joined(separator: "\n") + (count % 2 == 0 ? "\n" : "")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let list = BreachedList(path: path)
        for text in known { #expect(try list.contains(SecretBytes(Array(text.utf8))), "\(text)") }
        for index in 0..<100 {
            #expect(try !list.contains(SecretBytes(Array("unknown \(index)".utf8))))
        }
    }

    @Test func `is a failure where it cannot be read`() {
        #expect(throws: SystemFailure.self) {
            try BreachedList(path: "/nowhere/list").contains(SecretBytes([1]))
        }
    }
}
