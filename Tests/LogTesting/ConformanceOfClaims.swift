internal import EventSourcing
internal import Testing
internal import Values

extension LogConformance {
    private var claim: Claim { Claim("name", "one") }

    func checkClaimTaken() async throws {
        let (holder, other) = (newID(), newID())
        expectWon(try await log.append(commit(holder, at: 0, claims: [.take(claim, for: holder)])))
        let taken = try await log.append(commit(other, at: 0, claims: [.take(claim, for: other)]))
        #expect(taken == .taken(kind: "name"))
        // Its holder does not take it twice either.
        let twice = try await log.append(commit(holder, at: 1, claims: [.take(claim, for: holder)]))
        #expect(twice == .taken(kind: "name"))
        let events = try await all()
        #expect(events.count == 1)
        expectWon(
            try await log.append(
                commit(other, at: 0, claims: [.take(Claim("name", "two"), for: other)])))
    }

    func checkClaimReleased() async throws {
        let (holder, other) = (newID(), newID())
        _ = try await log.append(commit(holder, at: 0, claims: [.take(claim, for: holder)]))
        expectWon(
            try await log.append(commit(holder, at: 1, claims: [.release(claim, by: holder)])))
        expectWon(try await log.append(commit(other, at: 0, claims: [.take(claim, for: other)])))
        // A change of name: one goes, another comes.
        let second = Claim("name", "two")
        expectWon(
            try await log.append(
                commit(
                    other, at: 1, claims: [.release(claim, by: other), .take(second, for: other)])))
        expectWon(try await log.append(commit(holder, at: 2, claims: [.take(claim, for: holder)])))
        let taken = try await log.append(
            commit(newID(), at: 0, claims: [.take(second, for: holder)]))
        #expect(taken == .taken(kind: "name"))
    }

    func checkForeignRelease() async throws {
        let (holder, other) = (newID(), newID())
        _ = try await log.append(commit(holder, at: 0, claims: [.take(claim, for: holder)]))
        expectWon(try await log.append(commit(other, at: 0, claims: [.release(claim, by: other)])))
        let taken = try await log.append(commit(other, at: 1, claims: [.take(claim, for: other)]))
        #expect(taken == .taken(kind: "name"))
        // To release what nobody holds changes nothing.
        expectWon(
            try await log.append(
                commit(other, at: 1, claims: [.release(Claim("name", "free"), by: other)])))
    }

    func checkClaimKinds() async throws {
        let (one, two) = (newID(), newID())
        _ = try await log.append(commit(one, at: 0, claims: [.take(claim, for: one)]))
        expectWon(
            try await log.append(
                commit(two, at: 0, claims: [.take(Claim("mail", "one"), for: two)])))
        // Kind and value are told apart wherever they meet.
        expectWon(
            try await log.append(
                commit(two, at: 1, claims: [.take(Claim("nameo", "ne"), for: two)])))
        let taken = try await log.append(
            commit(one, at: 1, claims: [.take(Claim("mail", "one"), for: one)]))
        #expect(taken == .taken(kind: "mail"))
    }

    func checkLostClaims() async throws {
        let (holder, loser, third) = (newID(), newID(), newID())
        let (free, alsoFree) = (Claim("name", "free"), Claim("name", "also-free"))
        _ = try await log.append(commit(holder, at: 0, claims: [.take(claim, for: holder)]))
        let taken = try await log.append(
            commit(loser, at: 0, claims: [.take(free, for: loser), .take(claim, for: loser)]))
        #expect(taken == .taken(kind: "name"))
        let conflict = try await log.append(
            commit(loser, at: 7, claims: [.take(alsoFree, for: loser)]))
        #expect(conflict == .conflict)
        // Neither did it release anything.
        let kept = try await log.append(
            commit(holder, at: 9, claims: [.release(claim, by: holder)]))
        #expect(kept == .conflict)
        let stillTaken = try await log.append(
            commit(third, at: 0, claims: [.take(claim, for: third)]))
        #expect(stillTaken == .taken(kind: "name"))
        expectWon(
            try await log.append(
                commit(
                    third, at: 0, claims: [.take(free, for: third), .take(alsoFree, for: third)]))
        )
    }

    func checkClaimAlone() async throws {
        let (holder, other) = (newID(), newID())
        expectWon(
            try await log.append(
                commit([(holder, 0, 0)], claims: [.take(claim, for: holder)])))
        let taken = try await log.append(
            commit([(other, 0, 0)], claims: [.take(claim, for: other)]))
        #expect(taken == .taken(kind: "name"))
        #expect(try await all().isEmpty)
    }

    func checkConflictBeforeClaim() async throws {
        let (holder, other) = (newID(), newID())
        _ = try await log.append(commit(holder, at: 0, claims: [.take(claim, for: holder)]))
        let outcome = try await log.append(commit(other, at: 3, claims: [.take(claim, for: other)]))
        #expect(outcome == .conflict)
    }
}
