import Values

/// The small machines that most laws are made of. Each keeps what it has seen, and gives the checks of one law.

/// A thing is given out, used at most so often within its life, and not after its end.
func once(
    _ law: Int, _ what: String, given: StaticString, used: StaticString,
    ended: [StaticString] = [], named name: StaticString? = nil, hasGeneration: Bool = false,
    limit: @escaping (Members) -> Int64? = { _ in 1 }
) -> [Check] {
    let proofs = Memory<Proof> { $0.isOver(at: $1) }
    func id(_ event: Event) -> UUID { event.named(name) }
    let giving = Check(given) { past, event in
        if proofs[id(event)] != nil { past.broken(law, "\(what) is given out twice") }
        let proof = Proof(event.data, hasGeneration: hasGeneration, limit: limit(event.data))
        proofs.begin(proof, id(event), at: event.second)
    }
    let using = Check(used) { past, event in
        past.use(proofs, id(event), law, what, event)
    }
    guard !ended.isEmpty else { return [giving, using] }
    let ending = Check(ended) { past, event in
        past.stands(proofs, id(event), law, what)
        proofs[id(event)]?.hasEnded = true
    }
    return [giving, using, ending]
}

/// A thing is there between two events, and is spoken of only then.
func present(
    _ law: Int, _ what: String, begins: StaticString, ends: StaticString,
    others: [StaticString] = [], named name: StaticString? = nil, lapses: Bool = false
) -> [Check] {
    let things = Memory<Spoken> { $0.isOver || lapses && isPast($0.second + lapse, $1) }
    let beginning = Check(begins) { past, event in
        things.begin(Spoken(second: event.second), event.named(name), at: event.second)
    }
    let speaking = Check([ends] + others) { past, event in
        let isThere = things.change(event.named(name)) { thing in
            if thing.isOver { past.broken(law, "\(event.type): \(what) is over") }
            thing.second = event.second
            thing.isOver = thing.isOver || event.is(ends)
        }
        guard !isThere else { return }
        past.missing(
            law, mayBeForgotten: lapses && things.hasForgotten,
            "\(event.type): there is no \(what)")
    }
    return [beginning, speaking]
}

/// A thing of an account is there between two events, and used only then and while the account is open.
func possessed(
    _ law: Int, _ what: String, given: [StaticString], used: StaticString, removed: StaticString,
    renewed: StaticString
) -> [Check] {
    let owners = Memory<UUID>()
    let giving = Check(given) { past, event in
        owners.begin(event.data.identifier("account") ?? .zero, event.stream, at: event.second)
    }
    let speaking = Check(used, removed, renewed) { past, event in
        guard let owner = owners[event.stream] else {
            return past.missing(law, "\(event.type): there is no \(what)")
        }
        if event.is(removed) {
            owners[event.stream] = nil
        } else if event.is(used), let account = past.accounts[owner] {
            past.judge(account, for: law, "a \(what) that is used")
        }
    }
    return [giving, speaking]
}

/// A thing, whose stream it is, has one holder at a time.
func held(
    _ law: Int, _ thing: String, taken: StaticString, released: StaticString,
    by holder: StaticString = "account"
) -> [Check] {
    let holders = Memory<String>()
    return [
        Check(taken, released) { past, event in
            let known = holders[event.stream]
            let named = event.data.text(holder)
            if event.is(taken) {
                if let known {
                    past.broken(law, "\(thing) is given to \(named ?? "") while \(known) holds it")
                } else if !past.isWhole, event.logged.version > 1 {
                    past.unknown(law)
                }
                holders.begin(named ?? "", event.stream, at: event.second)
            } else if let known {
                holders[event.stream] = nil
                if let named, named != known {
                    past.broken(law, "\(thing) is released by \(named), who does not hold it")
                }
            } else {
                past.missing(law, "\(thing) is released that has no holder")
            }
        }
    ]
}

/// How long something may be silent that need not end: thirty days.
let lapse: Int64 = 30 * 86_400

private struct Spoken {
    var second: Int64
    var isOver = false
}

/// A code, link or permission that is given out and used.
struct Proof {
    let account: UUID?
    /// Of its account's proofs when it was given out.
    let generation: Int64?
    let expiresAt: Int64?
    /// Nil: without limit.
    let limit: Int64?
    var uses: Int64 = 0
    var refusals: Int64 = 0
    var isApproved = false
    var hasEnded = false

    init(_ data: Members, hasGeneration: Bool = false, limit: Int64? = 1) {
        account = data.identifier("account")
        generation = hasGeneration ? data.integer("generation") ?? 0 : nil
        expiresAt = data.integer("expires_at")
        self.limit = limit
    }

    func isOver(at second: Int64) -> Bool {
        hasEnded || isPast(expiresAt, second) || expiresAt == nil && isUsedUp
    }

    private var isUsedUp: Bool { limit.map { uses >= $0 } ?? false }
}

extension Event {
    /// What the event is about: its stream, or what a field names.
    func named(_ name: StaticString?) -> UUID {
        name.map { data.identifier($0) ?? .zero } ?? stream
    }
}

extension Past {
    mutating func stands(_ proofs: Memory<Proof>, _ id: UUID, _ law: Int, _ what: String) {
        guard let proof = proofs[id] else {
            return missing(
                law, mayBeForgotten: proofs.hasForgotten, "\(what) was never given out")
        }
        if proof.hasEnded { broken(law, "\(what) was over") }
    }

    mutating func use(
        _ proofs: Memory<Proof>, _ id: UUID, _ law: Int, _ what: String, _ event: Event
    ) {
        if !proofs.change(id, { use(&$0, law, what, event) }) {
            missing(law, "\(what) was never given out, or is long over")
        }
    }

    private mutating func use(_ proof: inout Proof, _ law: Int, _ what: String, _ event: Event) {
        if proof.hasEnded { broken(law, "\(what) was over") }
        proof.uses += 1
        if let limit = proof.limit, proof.uses > limit {
            broken(law, "\(what) was used before")
        }
        if let late = event.late(after: proof.expiresAt) {
            broken(law, "\(what) was used \(late) s after its end")
        }
        guard let account = proof.account, let generation = proof.generation else { return }
        guard let owner = accounts[account] else {
            return missing(7, "\(what) is of an account that was never registered")
        }
        if owner.generation != generation {
            broken(
                7, "\(what) is of generation \(generation); the account's is \(owner.generation)")
        }
    }
}
