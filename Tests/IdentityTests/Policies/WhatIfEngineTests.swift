import EventSourcing
import JSON
import LogTesting
import Testing
import Values

@testable import Identity

@Suite struct `Trying a policy on the log` {
    private static let ann = UUID(high: 0xA, low: 1)
    private static let start = Timestamp(seconds: 1_795_694_400)

    private func facts(_ events: [ScannedEvent]) throws -> [PlacedFact] {
        try events.compactMap { try PlacedFact($0) }
    }

    private func result(
        _ json: JSON, _ facts: [PlacedFact], isWhole: Bool = true
    ) throws -> JSON {
        var engine = WhatIfEngine(
            try policy(json).knowing(sources: ["far"]), isWhole: isWhole, since: Self.start)
        for fact in facts { engine.take(fact) }
        return engine.result([:])
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func `an engine that is kept and resumed anywhere has the result of one that is not`(
        seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        let json = PolicyStory.policy(&random)
        let read = try policy(json).knowing(sources: ["far"])
        let facts = try facts(PolicyStory(seed: seed, count: 400).events)
        let isWhole = Bool.random(using: &random)
        let new = WhatIfEngine(read, isWhole: isWhole, since: Self.start)
        var (whole, resumed) = (new, new)
        for fact in facts {
            whole.take(fact)
            resumed.take(fact)
            guard Int.random(in: 0..<40, using: &random) == 0 else { continue }
            var other = new
            let isRead = other.resume(resumed.state)
            #expect(isRead)
            #expect(other == resumed)
            resumed = other
        }
        let bytes = whole.result(["policy": json]).canonical()
        #expect(bytes == resumed.result(["policy": json]).canonical())
        var again = new
        for fact in facts { again.take(fact) }
        #expect(bytes == again.result(["policy": json]).canonical())
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func `the numbers of a result agree with each other`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let json = PolicyStory.policy(&random)
        let facts = try facts(PolicyStory(seed: seed, count: 600).events)
        let result = try result(json, facts, isWhole: seed % 2 == 0)
        let names = PolicyOutcome.allCases.map(\.rawValue)
        func sum(_ counts: JSON?) -> Int64 { names.reduce(0) { $0 + (counts?[$1]?.integer ?? 0) } }
        let total = try #require(result["sign_ins"]?["total"]?.integer)
        #expect(total > 0 && sum(result["sign_ins"]) == total)
        for rule in try policy(json).rules where !PolicyRule.lifetimes.contains(rule) {
            #expect(sum(result["rules"]?[rule.rawValue]) == total, "\(rule)")
        }
        let days = result["days"]?.array ?? []
        for name in names {
            let ofDays = days.reduce(0) { $0 + ($1[name]?.integer ?? 0) }
            #expect(ofDays == result["sign_ins"]?[name]?.integer)
        }
        let rows = result["refused_accounts"]?.array ?? []
        let refused = rows.reduce(0) { $0 + ($1["would_refuse"]?.integer ?? 0) }
        #expect(refused == result["sign_ins"]?["would_refuse"]?.integer)
        let lockedOut = rows.count { $0["locked_out"] == true }
        #expect(Int64(lockedOut) == result["accounts"]?["locked_out"]?.integer)
        #expect(rows.allSatisfy { $0["rules"]?.array?.isEmpty == false })
    }

    /// What is known of fewer events may be unknown, and is never another answer.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func `what is not known of the past is never guessed`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        // What would have been refused before counts for how many sessions are open.
        var json = PolicyStory.policy(&random).object ?? [:]
        json["max_sessions"] = nil
        if json.isEmpty { json["idle_lifetime"] = "20m" }
        let read = try policy(.object(json)).knowing(sources: ["far"])
        let facts = try facts(PolicyStory(seed: seed, count: 400).events)
        let first = try #require(facts.dropFirst(120).first)
        var whole = PolicyMemory(read, isWhole: true, since: facts[0].at)
        var part = PolicyMemory(read, isWhole: false, since: first.at)
        for placed in facts {
            // In these stories accounts are registered when they have done something already.
            if case .registered = placed.fact { continue }
            if case .signIn(let signIn) = placed.fact, placed.position >= first.position {
                let (known, guessed) = (
                    judge(signIn, &whole, read), judge(signIn, &part, read)
                )
                for (one, other) in zip(known.rules, guessed.rules) where one.rule != .lock {
                    let isSame = other.outcome == one.outcome || other.outcome == .unknown
                    // A strong sign-in is good, whether the rule is for its roles or not.
                    let isGood = other.outcome == .satisfied && one.outcome == .notApplicable
                    #expect(isSame || isGood, "\(one) \(other)")
                }
            } else {
                whole.note(placed.fact, at: placed.at)
                if case .signIn(let signIn) = placed.fact {
                    _ = judge(signIn, &whole, read)
                } else if placed.position >= first.position {
                    part.note(placed.fact, at: placed.at)
                }
            }
        }
    }

    private func judge(
        _ signIn: PolicyFact.SignIn, _ memory: inout PolicyMemory, _ read: SignInPolicy
    ) -> SignInJudgement {
        let attempt = memory.attempt(of: signIn)
        let place = memory.place(of: attempt.account)
        let judgement = read.judgement(
            of: attempt, knowing: memory.knowledge(of: place, for: attempt))
        memory.note(signIn, of: place, isCounted: true, isWanted: true)
        return judgement
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `fields are the same however they are read`(seed: UInt64) throws {
        for event in PolicyStory(seed: seed, count: 300).events {
            let open = try #require(event.open)
            #expect(SignInFields(event) == SignInFields(open, of: event.name), "\(open)")
        }
    }

    @Test func `the types that say anything are those that are read`() throws {
        let known = Set(EventCatalogue.newest.map(\.name))
        #expect(Set(PolicyFact.types).isSubset(of: known))
        #expect(PolicyFact.types == PolicyFact.types.sorted())
        for event in PolicyStory(seed: 1, count: 500).events {
            #expect(PolicyFact.types.contains(event.name))
        }
    }

    private func signIn(
        _ position: Int64, at seconds: Int64, _ change: (inout PolicyFact.SignIn) -> Void = { _ in }
    ) -> PlacedFact {
        var signIn = PolicyFact.SignIn(
            attempt: SignInAttempt(
                account: Self.ann, at: Self.start.adding(seconds: seconds), method: "passkey"),
            session: UUID(high: 7, low: UInt64(position)), browser: nil,
            expiresAt: Self.start.adding(seconds: 86_400), isPage: false)
        change(&signIn)
        return PlacedFact(.signIn(signIn), position: position, at: signIn.attempt.at)
    }

    private func fact(_ fact: PolicyFact, _ position: Int64, at seconds: Int64) -> PlacedFact {
        PlacedFact(fact, position: position, at: Self.start.adding(seconds: seconds))
    }

    @Test func `tries of the same instant and later ones that stand before count by their times`()
        throws
    {
        let facts = [
            fact(.wrongTry(Self.ann), 1, at: 0), fact(.wrongTry(Self.ann), 2, at: 90),
            fact(.wrongTry(Self.ann), 3, at: 60), signIn(4, at: 60), signIn(5, at: 90),
            signIn(6, at: 59), signIn(7, at: 150),
        ]
        let result = try result(["lock_after": ["n": 2, "minutes": 1]], facts)
        // At 60: 60 alone, for 0 is a minute ago. At 90: 60 and 90. At 59: 0. At 150: 90 is a minute ago.
        #expect(result["sign_ins"]?["would_refuse"] == 1)
        #expect(result["refused_accounts"]?[0]?["first_position"] == 5)
    }

    @Test func `a session that there would be none of is not counted`() throws {
        let facts = [
            signIn(1, at: 0), signIn(2, at: 1),
            fact(.ended(session: UUID(high: 7, low: 1)), 3, at: 2),
            signIn(4, at: 3), signIn(5, at: 4), fact(.allEnded(account: Self.ann), 6, at: 5),
            signIn(7, at: 6), signIn(8, at: 86_401),
        ]
        let result = try result(["max_sessions": 1], facts)
        #expect(result["sign_ins"]?["would_refuse"] == 2)
        #expect(result["sign_ins"]?["satisfied"] == 4)
        #expect(result["accounts"]?["locked_out"] == 0)
    }

    @Test func `a session that would have ended stays ended, and is one`() throws {
        let id = UUID(high: 7, low: 1)
        let facts = [
            signIn(1, at: 0), fact(.refreshed(session: id), 2, at: 600),
            fact(.refreshed(session: id), 3, at: 5_000),
            fact(.refreshed(session: id), 4, at: 5_001),
            fact(.refreshed(session: UUID(high: 9, low: 9)), 5, at: 5_002),
        ]
        let whole = try result(["idle_lifetime": "30m"], facts)
        #expect(whole["refreshes"]?["would_have_ended"] == 2)
        #expect(whole["refreshes"]?["sessions_ended"] == 1)
        #expect(whole["refreshes"]?["unknown"] == 0)
        #expect(whole["days"]?[0]?["sessions_would_have_ended"] == 2)
        let part = try result(["idle_lifetime": "30m"], facts, isWhole: false)
        #expect(part["refreshes"]?["unknown"] == 1)
    }

    @Test func `a second factor is one from when it is there until it is removed`() throws {
        let factor = UUID(high: 3, low: 3)
        let facts = [
            signIn(1, at: 0), fact(.factorAdded(factor, account: Self.ann), 2, at: 1),
            signIn(3, at: 2), fact(.factorRemoved(factor, account: Self.ann), 4, at: 3),
            signIn(5, at: 4),
        ]
        let rule: JSON = ["require_second_factor": ["all": true]]
        let whole = try result(rule, facts)
        #expect(whole["sign_ins"]?["would_interrupt"] == 1)
        #expect(whole["sign_ins"]?["would_refuse"] == 2)
        let part = try result(rule, facts, isWhole: false)
        #expect(part["sign_ins"]?["unknown"] == 2)
        #expect(part["accounts"]?["perhaps_locked_out"] == 0)
        let registered = [fact(.registered(account: Self.ann), 0, at: 0)] + facts
        #expect(try result(rule, registered, isWhole: false) == whole)
    }

    @Test func `clients and roles that a second factor is required of are counted by name`() throws
    {
        let facts = try facts(PolicyStory(seed: 5, count: 600).events)
        let rule: JSON = ["clients": ["shop", "shpo"], "roles": ["nobody"]]
        let result = try result(["require_second_factor": rule], facts)
        let named = result["second_factor_of"]
        let shop = facts.count {
            guard case .signIn(let signIn) = $0.fact else { return false }
            return signIn.attempt.client == "shop"
        }
        #expect(shop > 0)
        #expect(named?["clients"]?[0]?["sign_ins"]?.integer == Int64(shop))
        #expect(named?["clients"]?[1] == ["name": "shpo", "sign_ins": 0])
        #expect(named?["roles"]?[0] == ["name": "nobody", "sign_ins": 0])
    }

    @Test func `a filter says which sign-ins are counted and not what is remembered`() throws {
        let filter = try FilterParser.expression(
            of: #"client eq "shop" and country eq "CH""#, EventAttributes.ofAttempts)
        let events = PolicyStory(seed: 5, count: 600).events
        let json: JSON = ["max_sessions": 1]
        var engine = WhatIfEngine(try policy(json), isWhole: true, since: Self.start)
        var wanted: Set<Int64> = []
        for event in events {
            guard let placed = try PlacedFact(event, filter: filter) else { continue }
            if case .signIn(let signIn) = placed.fact, placed.isWanted {
                wanted.insert(placed.position)
                #expect(signIn.attempt.client == "shop" && signIn.attempt.country == "CH")
            }
            engine.take(placed)
        }
        let result = engine.result([:])
        #expect(Int64(wanted.count) == result["sign_ins"]?["total"]?.integer)
        #expect(wanted.count > 1)
    }

    @Test func `a state that is cut anywhere is refused`() throws {
        let read = try policy(["max_sessions": 1, "idle_lifetime": "20m"])
        let new = WhatIfEngine(read, isWhole: true, since: Self.start)
        var engine = new
        for fact in try facts(PolicyStory(seed: 3, count: 60).events) { engine.take(fact) }
        let state = engine.state
        for count in 0..<state.count {
            var other = new
            let isRead = other.resume(Array(state.prefix(count)))
            #expect(!isRead, "\(count)")
            #expect(other == new)
        }
        var other = new
        let isRead = other.resume(state)
        #expect(isRead && other == engine)
    }
}
