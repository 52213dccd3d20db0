import Cryptography
import Foundation
import Testing

@testable import urd

@Suite struct `The list of breached passphrases` {
    private func digest(_ text: String) throws -> String {
        try HashFunction.sha1.hash(Array(text.utf8)).map { String(format: "%02X", $0) }.joined()
    }

    @Test(arguments: [0, 1, 2, 3, 50, 1000], [true, false])
    func `a breached passphrase is found in lists of any length`(_ count: Int, _ isCounted: Bool)
        throws
    {
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

    @Test(arguments: [1, 2, 300, 5000]) func `a list of breached passphrases must be sorted`(
        _ count: Int
    ) throws {
        var lines = try (0..<count).map { try digest("known \($0)") }.sorted()
        #expect(try fault(of: lines) == nil)
        #expect(try fault(of: lines.map { $0.lowercased() + ":7\r" }) == nil)
        lines = lines.enumerated().map { "\($0.element):\(count - $0.offset)" }
        #expect(try fault(of: lines) == nil)
        if count > 1 {
            #expect(try fault(of: lines.reversed())?.hasSuffix("order of its digests") == true)
        }
        let others = [
            lines.map { String($0.prefix(32)) }, lines.map { $0.prefix(40) + "00" },
            lines.map { "0000" + $0.prefix(40) }, lines.map { "passphrase number " + $0 },
        ]
        for lines in others { #expect(try fault(of: lines) != nil, "\(lines[0])") }
    }

    @Test func `a list of breached passphrases that is missing is refused`() throws {
        #expect(try fault(of: []) != nil)
        #expect(try fault(of: ["correct horse battery staple"]) != nil)
        let settings = { (path: String) throws in
            try Settings(
                [Settings.breachedPassphrases],
                from: SettingsSources(flags: ["breached-passphrases": [path]]))
        }
        let failure = #expect(throws: CommandFailure.self) {
            try BreachedList.check(settings("/nowhere/list"))
        }
        #expect(failure?.description.contains("cannot open /nowhere/list") == true)
        #expect(LocalChecks.breached("/nowhere/list").verdict == .wrong)
    }

    private func fault(of lines: [String]) throws -> String? {
        let path =
            NSTemporaryDirectory()
            + "urd-list-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString)"
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return BreachedList(path: path).fault()
    }

    @Test func `a list of breached passphrases that becomes unreadable is a failure`() {
        #expect(throws: SystemFailure.self) {
            try BreachedList(path: "/nowhere/list").contains(SecretBytes([1]))
        }
    }
}
