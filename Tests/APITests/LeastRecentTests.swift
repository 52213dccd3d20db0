import LogTesting
import Testing

@testable import API

@Suite struct `The least-recently-used cache` {
    @Test func `a least-recently-used cache stays within its bound for any sequence of calls`()
        throws
    {
        var random = SeededRandom(seed: 7)
        var kept = LeastRecent<Int, Int>(capacity: 8)
        var model: [(key: Int, value: Int)] = []
        for turn in 0..<20_000 {
            let key = Int.random(in: 0..<16, using: &random)
            let place = model.firstIndex { $0.key == key }
            if Bool.random(using: &random) {
                #expect(kept.value(of: key) == place.map { model[$0].value })
                if let place { model.append(model.remove(at: place)) }
            } else {
                kept.set(turn, for: key)
                if let place { model.remove(at: place) }
                model.append((key, turn))
                if model.count > 8 { model.removeFirst() }
            }
            #expect(kept.count == model.count)
        }
    }
}
