import EventSourcing
import Identity
import LogTesting
import Testing
import Values

/// Which keys the two of a history have.
private enum Keys: CaseIterable {
    case none
    /// The owner's client has one from the sign-in on.
    case ownersFromTheStart
    /// It begins to prove one some time later.
    case ownersLater
    case thiefs
    case bothFromTheStart
    case bothLater
    /// The thief took the key as well.
    case stolen

    var isOwners: Bool { self != .none && self != .thiefs }
    var isFromTheStart: Bool {
        self == .ownersFromTheStart || self == .bothFromTheStart || self == .stolen
    }
    var thiefs: String? {
        switch self {
        case .none, .ownersFromTheStart, .ownersLater: nil
        case .thiefs, .bothFromTheStart, .bothLater: "thief's"
        case .stolen: "owner's"
        }
    }

    func family() throws -> (Family, owner: Holder) {
        let key = isFromTheStart ? "owner's" : nil
        return (try Family(key: key), Holder(0, key: key))
    }
}

@Suite struct `A family of refresh tokens whose holders lose answers` {
    private static let leeway: Int64 = 10

    /// An owner asks until an answer arrives: requests are lost on the way there, answers on the way back,
    /// and one may come several times at once. Between two requests the client may be one that proves a key.
    private func refreshHonestly(
        _ owner: inout Holder, _ family: Family, _ keys: Keys, _ now: inout Timestamp,
        _ random: inout SeededRandom
    ) async throws {
        let begun = now
        while true {
            if keys.isOwners, Int.random(in: 0..<100, using: &random) < 20 { owner.key = "owner's" }
            // After the bound of a day nobody promises anything.
            let isLast = now >= begun.adding(seconds: 72_000)
            let isLostThere = !isLast && Int.random(in: 0..<100, using: &random) < 30
            let isLostBack = !isLast && Int.random(in: 0..<100, using: &random) < 50
            if !isLostThere {
                var answers: [Int] = []
                for _ in 0...Int.random(in: 0...2, using: &random) {
                    let answer = try await family.refresh(owner.token, by: owner.key, at: now)
                    answers.append(try #require(answer))
                    now = now.adding(microseconds: Family.gap(&random))
                }
                // Whichever of them the client keeps.
                let leaves = family.state.names(of: .leaf, Self.leeway)
                #expect(leaves.isSuperset(of: answers), "One lineage for all that came at once.")
                let answer = try #require(answers.randomElement(using: &random))
                if !isLostBack { return owner.take(answer) }
            }
            now = family.pause(after: now, &random)
        }
    }

    @Test(arguments: 0..<10)
    func `a family of refresh tokens never ends by answers that its owner lost`(block: Int)
        async throws
    {
        for seed in 0..<300 {
            var random = SeededRandom(seed: UInt64(block * 1000 + seed))
            let keys = try #require(Keys.allCases.randomElement(using: &random))
            var (family, owner) = try keys.family()
            var now = noon
            for _ in 0..<10 {
                now = family.pause(after: now, &random)
                try await refreshHonestly(&owner, family, keys, &now, &random)
                try #require(family.state.end == nil, "seed \(random.seed)")
            }
            let leaves = family.state.names(of: .leaf, Self.leeway)
            try #require(leaves.contains(owner.token), "seed \(random.seed)")
        }
    }

    /// What the histories with a thief have shown.
    private struct Sightings {
        var ended = 0
        var cut = 0
        /// The thief's request bound the session.
        var bound = 0
        /// A token without its key was refused, and its owner went on.
        var useless = 0
        /// Two names of one token were living.
        var twins = 0
    }

    @Test func `a family of refresh tokens with a thief ends when its owner refreshes next`()
        async throws
    {
        var sightings = Sightings()
        for seed in 0..<6000 {
            try await steal(seed: UInt64(seed), &sightings)
        }
        // That the histories contain what they are about.
        #expect(sightings.ended > 1000, "\(sightings)")
        #expect(sightings.cut > 300, "\(sightings)")
        #expect(sightings.bound > 300, "\(sightings)")
        #expect(sightings.useless > 300, "\(sightings)")
        #expect(sightings.twins > 10, "\(sightings)")
    }

    /// What the decision has to be for a token and a key, in a family as it was before.
    private enum Verdict {
        case given
        case useless
        case ended
    }

    private func verdict(_ shown: Int, by key: String?, in before: Session) -> Verdict {
        let isItsKey = before.terms?.key == nil || before.terms?.key == key
        if before.names(of: .leaf, Self.leeway).contains(shown) {
            return isItsKey ? .given : .useless
        }
        guard before.names(of: .parent, Self.leeway).contains(shown) else { return .ended }
        if isItsKey { return .given }
        // Of two who had the parent without a key one bound what it made.
        return shown < before.firstBound ?? 0 ? .ended : .useless
    }

    /// A token that was given before is given again for a moment only, and a repeat binds nothing.
    private func isRight(
        _ shown: Int, by key: String?, in before: Session, _ isMoment: Bool, _ after: Session
    ) -> Bool {
        let isAgain = after.generation == before.generation
        let binds = before.terms?.key == nil && after.terms?.key != nil
        let isLeaf = before.names(of: .leaf, Self.leeway).contains(shown)
        return (!isAgain || isMoment && !isLeaf)
            && (!binds || isLeaf && after.terms?.key == key)
    }

    private func steal(seed: UInt64, _ sightings: inout Sightings) async throws {
        var random = SeededRandom(seed: seed)
        let keys = try #require(Keys.allCases.randomElement(using: &random))
        var (family, owner) = try keys.family()
        var now = noon
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            try await refreshHonestly(&owner, family, keys, &now, &random)
        }
        // What the owner has, or what he was to get and the thief took on the way.
        var thief = Holder(family.state.generation)
        // The thief got a token, and the owner has not come since.
        var isSpoilt = false
        for _ in 0..<12 where family.state.end == nil {
            now = family.pause(after: now, &random)
            let isTheft = Bool.random(using: &random)
            if keys.isOwners, Int.random(in: 0..<100, using: &random) < 20 { owner.key = "owner's" }
            // With the key or without it, as it serves.
            thief.key = Bool.random(using: &random) ? keys.thiefs : nil
            let before = family.state
            if before.names(of: .leaf, Self.leeway).count > 1 { sightings.twins += 1 }
            let isMoment =
                before.leafMadeAt.map { now < $0.adding(seconds: 2 * Self.leeway + 1) } ?? false
            let shown = isTheft ? thief.held.randomElement(using: &random) ?? 0 : owner.token
            let key = isTheft ? thief.key : owner.key
            let (answer, after) = (try await family.refresh(shown, by: key, at: now), family.state)
            func why() -> Testing.Comment {
                "seed \(seed): \(shown) by \(key ?? "no key") of \(before) came, and \(after) is there"
            }
            switch verdict(shown, by: key, in: before) {
            case .useless:
                try #require(answer == nil && after.end == nil, why())
                try #require(after.generation == before.generation, why())
                try #require(isTheft, why())
                sightings.useless += 1
                continue
            case .ended:
                try #require(answer == nil && after.end == .reuse, why())
                // Where no theft had succeeded, the thief ended it and not the owner.
                try #require(isTheft || isSpoilt, why())
                sightings.ended += 1
                return
            case .given: break
            }
            let given = try #require(answer, why())
            try #require(after.end == nil && given == after.generation, why())
            let binds = before.terms?.key == nil && after.terms?.key != nil
            try #require(isRight(shown, by: key, in: before, isMoment, after), why())
            if binds, isTheft { sightings.bound += 1 }
            let isLost = Int.random(in: 0..<100, using: &random) < 40
            if isTheft {
                if !isLost { thief.take(given) }
                isSpoilt = true
            } else {
                // The living token is the owner's alone, however much the thief had got.
                if !isMoment || shown == before.generation {
                    try #require(!thief.held.contains(given), why())
                    if isSpoilt { sightings.cut += 1 }
                    isSpoilt = false
                }
                if !isLost { owner.take(given) }
                // What was lost to the owner need not be lost to the thief.
                if isLost, Bool.random(using: &random) {
                    thief.take(given)
                    isSpoilt = true
                }
            }
        }
        thief.key = keys.thiefs
        try await checkTheEnd(family, thief, owner, now.adding(seconds: 30), why: "seed \(seed)")
    }

    /// However it went on: when both come once more, one of them is refused and the family is over. A thief without the
    /// owner's key has nothing, and ends nothing.
    private func checkTheEnd(
        _ family: Family, _ thief: Holder, _ owner: Holder, _ now: Timestamp,
        why: Testing.Comment
    ) async throws {
        var (thief, owner, now) = (thief, owner, now)
        for _ in 0..<3 where family.state.end == nil {
            if let answer = try await family.refresh(thief.token, by: thief.key, at: now) {
                thief.take(answer)
            }
            now = now.adding(seconds: 30)
            if let answer = try await family.refresh(owner.token, by: owner.key, at: now) {
                owner.take(answer)
            }
            now = now.adding(seconds: 30)
        }
        let key = family.state.terms?.key
        if key == "owner's", thief.key != key, family.state.end == nil {
            return #expect(family.state.generation == owner.token, why)
        }
        #expect(family.state.end == .reuse, why)
    }
}
