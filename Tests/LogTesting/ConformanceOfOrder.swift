internal import EventSourcing
internal import JSON
internal import Testing
internal import Values

extension LogConformance {
    func checkVersions() async throws {
        let (one, two) = (newID(), newID())
        expectWon(try await log.append(commit([(one, 0, 3)])), first: 1, count: 3)
        expectWon(try await log.append(commit([(two, 0, 1)])), first: 4, count: 1)
        expectWon(try await log.append(commit([(one, 3, 2)])), first: 5, count: 2)
        let first = try await log.stream(one, after: 0, in: realm)
        let second = try await log.stream(two, after: 0, in: realm)
        #expect(first.map(\.version) == [1, 2, 3, 4, 5])
        #expect(second.map(\.version) == [1])
        #expect(first.map(\.position) == [1, 2, 3, 5, 6])
        #expect(first.map { $0.open["number"] } == [1, 2, 3, 4, 5])
    }

    func checkDensePositions() async throws {
        var expected: [UUID] = []
        for number in 1...20 {
            let stream = newID()
            let count = number % 3 + 1
            expectWon(
                try await log.append(commit([(stream, 0, count)])),
                first: Int64(expected.count + 1), count: count)
            expected += Array(repeating: stream, count: count)
            let conflict = try await log.append(commit(stream, at: 0))
            #expect(conflict == .conflict)
        }
        let events = try await all()
        #expect(events.map(\.position) == Array(1...Int64(expected.count)))
        #expect(events.map(\.stream) == expected)
        let head = try await log.head(of: realm)
        #expect(head.position == Int64(expected.count))
    }

    func checkPages() async throws {
        let stream = newID()
        for number in 0..<10 {
            _ = try await log.append(commit([(stream, number * 3, 3)]))
        }
        let whole = try await all()
        #expect(whole.count == 30)
        for size in [1, 7, 30, 1_000] {
            var paged: [Recorded] = []
            while true {
                let page = try await log.events(
                    from: Int64(paged.count) + 1, limit: size, in: realm)
                #expect(page.count <= size)
                guard !page.isEmpty else { break }
                paged += page
            }
            #expect(paged == whole, "Pages of \(size)")
        }
        let beyond = try await log.events(from: 31, limit: 10, in: realm)
        #expect(beyond.isEmpty)
        let middle = try await log.events(from: 15, limit: 2, in: realm)
        #expect(middle.map(\.position) == [15, 16])
    }

    func checkStreamTails() async throws {
        let (stream, other) = (newID(), newID())
        for version in 0..<5 {
            _ = try await log.append(commit([(stream, version, 1), (other, version, 1)]))
        }
        for version in 0...6 {
            let tail = try await log.stream(stream, after: version, in: realm)
            #expect(tail.map(\.version) == Array(1...5).filter { $0 > version })
            #expect(tail.allSatisfy { $0.stream == stream })
        }
    }

    func checkFidelity() async throws {
        let (stream, command, subject) = (newID(), newID(), newID())
        let open: JSONObject = [
            "text": "\u{e9}\u{4f60}\u{1F600}\"\\/\u{7}\n", "empty": "",
            "large": 9_007_199_254_740_991,
            "small": -9_007_199_254_740_991, "flag": true, "none": .null,
            "list": [1, "two", [3], ["four": .null]], "e\u{301}": 1, "\u{1F600}": 2,
        ]
        let commit = Commit(
            realm: realm, command: command, digest: [1, 2, 3],
            origin: Origin(
                actor: "admin:7", client: "web", correlation: "00-ab-cd-01", at: checkTime),
            reads: [stream: 0],
            events: [
                NewEvent(
                    stream: stream, name: "thing.done", revision: 7, subject: subject, open: open,
                    personal: ["mail": "someone@example.org", "names": ["A", "B"]]),
                NewEvent(stream: stream, name: "thing.undone", revision: 1, open: [:]),
            ])
        expectWon(try await log.append(commit), first: 1, count: 2)
        let events = try await log.stream(stream, after: 0, in: realm)
        try #require(events.count == 2)
        let expected = Recorded(
            realm: realm, position: 1, stream: stream, version: 1, name: "thing.done", revision: 7,
            at: checkTime, command: command, subject: subject, actor: "admin:7", client: "web",
            correlation: "00-ab-cd-01", leaf: events[0].leaf, open: open,
            personal: .opened(["mail": "someone@example.org", "names": ["A", "B"]]))
        #expect(events[0] == expected)
        #expect(events[0].id != events[1].id)
        #expect(events[1].personal == .none)
        #expect(events[1].open.isEmpty)
        #expect(events[1].subject == nil)
        let page = try await all()
        #expect(page == events)
    }

    func checkUnknown() async throws {
        let nowhere = try await log.head(of: realm)
        #expect(nowhere.position == 0)
        let nothing = try await all()
        #expect(nothing.isEmpty)
        let noStream = try await log.stream(newID(), after: 0, in: realm)
        #expect(noStream.isEmpty)
        let noCommand = try await log.outcome(of: newID(), digest: [], in: realm)
        #expect(noCommand == nil)
        _ = try await log.append(commit(newID(), at: 0))
        let stillNoStream = try await log.stream(newID(), after: 0, in: realm)
        #expect(stillNoStream.isEmpty)
    }

    func checkRealmsApart() async throws {
        let other = ConformanceRealm.fresh()
        let stream = newID()
        let claim = Claim("name", "one")
        expectWon(
            try await log.append(commit(stream, at: 0, claims: [.take(claim, for: stream)])),
            first: 1)
        expectWon(
            try await log.append(
                commit(stream, at: 0, claims: [.take(claim, for: stream)], in: other)),
            first: 1)
        expectWon(try await log.append(commit(stream, at: 1)), first: 2)
        let here = try await all()
        let there = try await all(in: other)
        #expect(here.count == 2)
        #expect(there.count == 1)
        #expect(there.allSatisfy { $0.realm == other })
        let stillOne = try await log.head(of: other)
        #expect(stillOne.position == 1)
    }
}
