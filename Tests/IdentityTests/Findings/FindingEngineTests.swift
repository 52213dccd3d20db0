import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `The rules over a log` {
    private let account = FindingStory.account(1)

    /// Ten failures on one account within ten minutes, the last of them at this time.
    private func attack(_ story: inout FindingStory, until end: Int64) {
        for index in 0..<10 {
            story.fail(1, from: "source\(index % 5)", at: end - 540 + Int64(index) * 60)
        }
    }

    private func close(
        _ story: inout FindingStory, _ trigger: FindingTrigger, at seconds: Int64
    ) throws {
        let end = try #require(
            FindingEvent(
                name: "finding.closed",
                fields: ["rule": .string(trigger.rule.rawValue), "cause": "administrator"]))
        story.add(end, in: trigger.id, at: seconds, by: "operator:root")
    }

    @Test func `an attack that goes on is one finding, and after a quiet time another one`() {
        var story = FindingStory()
        for minute in 0..<120 {
            story.fail(1, from: "source\(minute % 5)", at: Int64(minute) * 60)
        }
        #expect(story.found(.bruteForce).count == 1)
        attack(&story, until: 119 * 60 + 1800 + 600)
        #expect(story.found(.bruteForce).count == 2)
        #expect(Set(story.found.map(\.id)).count == story.found.count)
    }

    @Test func `what was closed by hand is not raised again for what happened before`() throws {
        var story = FindingStory()
        attack(&story, until: 600)
        let first = try #require(story.found(.bruteForce).first)
        try close(&story, first, at: 601)
        // The failures before the closing are still in the window, and do not count.
        story.fail(1, from: "source1", at: 602)
        #expect(story.found(.bruteForce).count == 1)
        attack(&story, until: 602 + 1800 + 600)
        #expect(story.found(.bruteForce).count == 2)
    }

    @Test func `a finding closes once nothing more of it happened for its time`() throws {
        func now(_ seconds: Int64) -> Timestamp {
            Timestamp(seconds: FindingStory.start + seconds)
        }
        var story = FindingStory()
        attack(&story, until: 600)
        let finding = try #require(story.found(.bruteForce).first)
        #expect(story.engine.nextDue == now(600 + 1800))
        story.fail(1, from: "source1", at: 700)
        #expect(story.engine.quiet(at: now(700 + 1800)).isEmpty)
        #expect(story.engine.quiet(at: now(700 + 1801)) == [finding.id])
        try close(&story, finding, at: 700 + 1801)
        #expect(story.engine.quiet(at: now(10_000)).isEmpty)
        #expect(story.engine.nextDue == nil)
    }

    @Test func `the same log has the same findings, and what it says of them is not found again`() {
        var story = FindingStory()
        attack(&story, until: 600)
        story.signIn(1, at: 700)
        for at in 0..<3 { story.signIn(2, at: 800 + Int64(at)) }
        #expect(story.found.count == 3)
        var again = FindingEngine()
        for event in story.events { again.take(event) }
        #expect(again.outstanding.isEmpty)
        #expect(again.risen.isEmpty)
        // Without what was put on record they are found anew, under the same names.
        var lost = FindingEngine()
        for event in story.events where event.name != "finding.raised" { lost.take(event) }
        #expect(lost.outstanding == story.found)
    }

    // MARK: - Times

    @Test func `times of two nodes an hour apart count as those of one clock`() {
        var story = FindingStory()
        // The node that is ahead had something to say before.
        story.fail(2, from: "source1", at: 3600)
        for index in 0..<10 {
            let ahead: Int64 = index % 2 == 0 ? 0 : 3600
            story.fail(1, from: "source\(index % 5)", at: Int64(index) * 60 + ahead)
        }
        #expect(story.found(.bruteForce).count == 1)
        // Half as many on each node are no finding of theirs.
        var half = FindingStory()
        half.fail(2, from: "source1", at: 3600)
        for index in 0..<9 {
            let ahead: Int64 = index % 2 == 0 ? 0 : 3600
            half.fail(1, from: "source\(index % 5)", at: Int64(index) * 60 + ahead)
        }
        #expect(half.found(.bruteForce).isEmpty)
    }

    @Test func `a time far ahead of all others holds nothing up`() {
        var story = FindingStory()
        story.fail(2, from: "source1", at: 365 * 86_400)
        attack(&story, until: 600)
        #expect(story.found(.bruteForce).count == 1)
        #expect(story.found.allSatisfy { $0.to < Timestamp(seconds: FindingStory.start + 3600) })
    }

    @Test func `a time more than two hours back begins all windows anew`() {
        var story = FindingStory()
        for index in 0..<9 { story.fail(1, from: "source\(index % 5)", at: 7201 + Int64(index)) }
        story.fail(1, from: "source4", at: 0)
        #expect(story.found(.bruteForce).isEmpty)
        var within = FindingStory()
        for index in 0..<9 { within.fail(1, from: "source\(index % 5)", at: 7192 + Int64(index)) }
        within.fail(1, from: "source4", at: 0)
        #expect(within.found(.bruteForce).count == 1)
    }

    // MARK: - Unkind logs

    /// A log of all sorts of events by few people from few networks, with times of two nodes.
    private func unkind(_ seed: UInt64) -> FindingStory {
        var random = SeededRandom(seed: seed)
        var story = FindingStory()
        var sessions: [UUID] = []
        var time: Int64 = 0
        for _ in 0..<2_000 {
            time += Int64.random(in: 0...90, using: &random)
            if Int.random(in: 0..<400, using: &random) == 0 { time += 86_400 * 40 }
            var at = time
            switch Int.random(in: 0..<50, using: &random) {
            case 0..<20: at += 3600
            case 20: at -= Int64.random(in: 0...20_000, using: &random)
            case 21: at += Int64.random(in: 0...20_000, using: &random)
            default: break
            }
            let account = Int.random(in: 0..<12, using: &random)
            let source = "s\(Int.random(in: 0..<6, using: &random))"
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<6: story.fail(account, from: source, at: at)
            case 6: story.guess(account, at: at)
            case 7: story.fail(account, from: nil, at: at, because: "second_factor_required")
            case 8:
                sessions.append(
                    story.signIn(
                        account, from: source, at: at, by: [.passphrase, .multiple]))
            case 9: story.administer(by: "admin:a", at: at)
            case 10: story.disclose(Int.random(in: 1...20, using: &random), by: "admin:a", at: at)
            default:
                if let session = sessions.popLast() {
                    story.add(SessionEvent.ended(.reuse), in: session, at: at)
                }
            }
        }
        return story
    }

    @Test(arguments: UInt64(1)...12)
    func `whatever the log, it is read again with the same findings, each raised once`(seed: UInt64)
    {
        let story = unkind(seed)
        #expect(story.found.count > 10)
        let names = story.found.map(\.id)
        #expect(Set(names).count == names.count)
        // Each rests on events that there are, in their order, and none that came later.
        for trigger in story.found {
            #expect(!trigger.positions.isEmpty && trigger.positions.count <= 500)
            #expect(trigger.positions == trigger.positions.sorted())
            #expect(trigger.positions.first ?? 0 >= 1)
            #expect(trigger.from <= trigger.to)
        }
        var whole = FindingEngine()
        for event in story.events { whole.take(event) }
        #expect(whole.outstanding.isEmpty && whole.risen.isEmpty)
        // A node that dies at any place, and another one that reads from the beginning, find together what one
        // finds.
        let dies = story.events.count / 2
        var known: Set<UUID> = []
        for event in story.events.prefix(dies) where event.name == "finding.raised" {
            known.insert(event.stream)
        }
        var second = FindingEngine()
        var found: [UUID] = []
        for event in story.events
        where event.name != "finding.raised" || known.contains(event.stream) {
            second.take(event)
        }
        found = second.outstanding.map(\.id)
        #expect(known.isDisjoint(with: found))
        #expect(known.union(found) == Set(names))
    }
}
