internal import Values

/// A refresh token or a code that was used before and came again: an attacker may have it.
struct TokenReuseRule: FindingRuleGroup {
    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        guard case .reused(let session) = fact, desk.terms(.tokenReuse) != nil else { return }
        let moment = desk.moment
        desk.find(.tokenReuse, .session(session), isWhole: true) {
            FindingTrigger(.tokenReuse, about: .session(session), [moment])
        }
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {}
    mutating func begin(anewAt now: Timestamp) {}
}

/// Sign-ins of one account shortly after each other that have not ended.
struct ManySessionsRule: FindingRuleGroup {
    private var opened = KeyedWindows<UUID, UUID>()
    private var holders: [UUID: (account: UUID, at: Timestamp)] = [:]

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        switch fact {
        case .ended(let session), .reused(let session):
            guard let account = holders.removeValue(forKey: session)?.account else { return }
            opened.remove(of: account) { $0 == session }
        case .signedIn(let signIn): open(signIn, &desk)
        default: return
        }
    }

    private mutating func open(_ signIn: FindingFact.SignIn, _ desk: inout FindingDesk) {
        holders[signIn.session] = (signIn.account, desk.moment.time)
        let window = opened.append(
            signIn.session, of: signIn.account, at: desk.moment,
            seconds: desk.seconds(.manySessions))
        guard let terms = desk.terms(.manySessions), window.count >= terms.count(.sessions) else {
            return
        }
        desk.find(.manySessions, .account(signIn.account)) {
            FindingTrigger(
                .manySessions, about: .account(signIn.account), window.all.map(\.moment),
                counts: [.sessions: window.count])
        }
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {
        let start = now.adding(seconds: -rules[.manySessions][.window])
        opened.forget(before: start)
        holders = holders.filter { $0.value.at >= start }
    }

    mutating func begin(anewAt now: Timestamp) {
        opened.removeAll()
        holders = [:]
    }
}
