import Testing
import Values

@testable import Laws

@Suite struct `Laws of the log` {
    @Test
    func `Sessions that ended are forgotten, and a refresh of one breaks its law all the same`() {
        var log = MadeLog()
        for number in 0..<140_000 {
            log.open(number)
            log.end(number)
        }
        #expect(log.laws.findings().isLawful)
        #expect(log.laws.kept < 2 * 65_536)
        log.refresh(0)
        log.refresh(139_999)
        let found = log.laws.findings()
        #expect(Set(found.violations.map(\.law)) == [8, 9])
        #expect(found.violations.filter { $0.law == 8 }.map(\.position) == [280_003, 280_004])
        #expect(found.verdicts.filter { $0.unknown > 0 }.map(\.number) == [2, 33])
    }

    @Test func `Sessions whose life is over are forgotten, and ended late lawfully`() {
        var log = MadeLog()
        log.open(0, expires: 60)
        log.wait(100_000)
        for number in 1...100_000 { log.open(number, expires: 60) }
        log.wait(100_000)
        for number in 100_001...200_000 { log.open(number) }
        log.end(0)
        #expect(log.laws.kept < 200_000)
        let found = log.laws.findings()
        #expect(found.violations.isEmpty)
        #expect(found.verdicts.filter { $0.unknown > 0 }.map(\.number) == [2, 8, 33])
    }

    @Test func `A log that begins in the middle leaves laws of the past unknown`() {
        var log = MadeLog(from: 7)
        log.refresh(0)
        let found = log.laws.findings()
        #expect((found.first, found.last) == (7, 7))
        #expect(found.violations.isEmpty)
        #expect(found.verdicts.filter { $0.unknown > 0 }.map(\.number) == [2, 3, 8, 9, 32, 33])
    }

    @Test func `Checkpoints of the log are told from those of another`() {
        var log = MadeLog()
        log.laws.takeCheckpoint(size: 2, epoch: 1, isOfLog: true)
        log.laws.takeCheckpoint(size: 2, epoch: 2, isOfLog: nil)
        #expect(log.laws.findings().isLawful)
        log.laws.takeCheckpoint(size: 2, epoch: 1, isOfLog: false)
        #expect(log.laws.findings().violations.map(\.law) == [1, 40])
    }
}

@Suite struct `Members of an object in its bytes` {
    private func read<Value>(_ text: String, _ body: (Members) -> Value) -> Value {
        Array(text.utf8).withUnsafeBytes { bytes in
            let members = Members()
            members.read(bytes)
            return body(members)
        }
    }

    @Test func `Values are found by their names, with escapes and objects between them`() {
        let text = #"""
            {"a":"x\"}","b":{"id":7,"c":["]",{}]},"id":-12,"list":["a","b"],"numbers":[1,20],"on":true,"off":false}
            """#
        read(text) { members in
            #expect(members.text("a") == #"x\"}"#)
            #expect(members.integer("id") == -12)
            #expect(members.object("b")?.integer("id") == 7)
            #expect(members.texts("list") == ["a", "b"])
            #expect(members.integers("numbers") == [1, 20])
            #expect(members.isTrue("on") && !members.isTrue("off") && !members.has("none"))
        }
    }

    @Test(arguments: [
        "", "{", "{}", "[", #"{"a"#, #"{"a""#, #"{"a":"#, #"{"a":"x"#, #"{"a":"x\"#, #"{"a":[1,"#,
        #"{"a":{"b""#, #"{"a":1"#, #"{"a":["x"#,
    ])
    func `Bytes that end too early are read no further`(text: String) {
        read(text) { members in
            #expect(members.integer("a") == nil)
            #expect(members.texts("a").count < 2)
        }
    }
}
