import API
import Testing

@testable import urd

private func turn(_ source: String, _ target: String) -> PassphraseTurn {
    PassphraseTurn(source: source, target: target)
}

private func turn(from address: String, _ target: String) -> PassphraseTurn {
    let source = Source(address)
    return PassphraseTurn(source: source.network, blocks: source.blocks, target: target)
}

@Suite struct `Fair turns` {
    /// Who is served in which order, once everybody who waits may come.
    private func order(_ turns: inout FairTurns, running: Int) -> [Int] {
        var (served, last) = ([Int](), running)
        while let next = turns.leave(last) {
            served.append(next)
            last = next
        }
        return served
    }

    @Test func `a source with many waiting delays another source by one turn`() {
        var turns = FairTurns(.init(atOnce: 1, mostWaiting: 64, mostOfSource: 16))
        #expect(turns.enter(0, turn("a", "0")) == .begins)
        for name in 1...16 {
            #expect(turns.enter(name, turn("a", "\(name)")) == .waits(insteadOf: nil))
        }
        #expect(turns.enter(17, turn("a", "17")) == .refused)
        #expect(turns.enter(18, turn("b", "18")) == .waits(insteadOf: nil))
        #expect(turns.enter(19, turn("c", "19")) == .waits(insteadOf: nil))
        #expect(order(&turns, running: 0) == [18, 19] + Array(1...16))
    }

    @Test func `a source that returns as soon as it is served gets only its turns`() {
        var turns = FairTurns(.init(atOnce: 1, mostWaiting: 64, mostOfSource: 4))
        #expect(turns.enter(0, turn("a", "x")) == .begins)
        for name in 1...4 { _ = turns.enter(name, turn("a", "x\(name)")) }
        for name in 10...12 { _ = turns.enter(name, turn("b", "y\(name)")) }
        var (served, running, next) = ([Int](), 0, 20)
        for _ in 0..<8 {
            running = turns.leave(running) ?? -1
            served.append(running)
            // The flood fills what was freed.
            _ = turns.enter(next, turn("a", "z\(next)"))
            next += 1
        }
        let others = served.enumerated().filter { (10...12).contains($0.element) }.map(\.offset)
        #expect(others.count == 3 && others.last.map { $0 <= 5 } == true, "\(served)")
    }

    @Test func `many sources that ask about one account delay another account by one turn`() {
        var turns = FairTurns(.init(atOnce: 1, mostWaiting: 64, mostOfSource: 16))
        #expect(turns.enter(0, turn("s0", "victim")) == .begins)
        for name in 1...40 { _ = turns.enter(name, turn("s\(name)", "victim")) }
        _ = turns.enter(50, turn("t", "other"))
        #expect(order(&turns, running: 0).first == 50)
    }

    @Test func `a full queue makes room for a new source, not for those that fill it`() {
        var turns = FairTurns(.init(atOnce: 1, mostWaiting: 8, mostOfSource: 4))
        #expect(turns.enter(0, turn("a", "0")) == .begins)
        for name in 1...4 { _ = turns.enter(name, turn("a", "\(name)")) }
        for name in 5...8 { _ = turns.enter(name, turn("b", "\(name)")) }
        // The last of those who have the most is sent away.
        #expect(turns.enter(9, turn("c", "9")) == .waits(insteadOf: 4))
        #expect(turns.waitingCount == 8)
        // Somebody who would come after all of them is not let in.
        _ = turns.enter(10, turn("c", "10"))
        _ = turns.enter(11, turn("c", "11"))
        #expect(turns.enter(12, turn("c", "12")) == .refused)
        #expect(turns.giveUp(9) && !turns.giveUp(9) && !turns.giveUp(0))
        #expect(turns.waitingCount == 7)
    }

    @Test(arguments: [
        ("2001:db8:1:%::1", "2001:db8:2::1"), ("2001:db8:%::1", "2001:db9::1"),
        ("198.51.100.%", "198.51.7.1"), ("198.51.%.1", "203.0.113.9"),
    ])
    func `a block of many networks keeps no newcomer from elsewhere out`(
        many: String, elsewhere: String
    ) {
        var turns = FairTurns(.init(atOnce: 1, mostWaiting: 64, mostOfSource: 32))
        for name in 0...200 {
            let address = many.replacing("%", with: "\(name)")
            _ = turns.enter(name, turn(from: address, "\(name)"))
        }
        #expect(turns.waitingCount == 64)
        for name in 300..<310 {
            let entry = turns.enter(name, turn(from: elsewhere, "\(name)"))
            guard case .waits(insteadOf: let displaced?) = entry else {
                Issue.record("\(name): \(entry)")
                continue
            }
            #expect(displaced <= 200)
        }
        // The block itself comes on as well.
        #expect(order(&turns, running: 0).filter { $0 <= 200 }.count == 54)
    }

    @Test func `a block of networks has one turn while another waits`() {
        var turns = FairTurns(.init(atOnce: 1, mostWaiting: 64, mostOfSource: 32))
        for name in 0...40 { _ = turns.enter(name, turn(from: "2001:db8:1:\(name)::1", "\(name)")) }
        _ = turns.enter(50, turn(from: "2001:db8:2::1", "50"))
        #expect(order(&turns, running: 0).firstIndex(of: 50).map { $0 <= 1 } == true)
    }

    @Test func `a batch of turns begins with one per thread, and the next when all are done`() {
        var turns = FairTurns(.init(atOnce: 2, mostWaiting: 4, mostOfSource: 4))
        #expect(
            turns.enter(1, turn("a", "1")) == .begins && turns.enter(2, turn("a", "2")) == .begins)
        #expect(turns.enter(3, turn("a", "3")) == .waits(insteadOf: nil))
        #expect(turns.leave(2) == 3 && turns.leave(1) == nil && turns.leave(3) == nil)
        #expect(turns.runningCount == 0 && turns.waitingCount == 0)
        #expect(turns.enter(4, turn("a", "1")) == .begins)
    }
}
