internal import Values

/// What an account's sign-ins usually are: their kinds of devices, their networks, and that there are any.
struct FamiliarityRules: FindingRuleGroup {
    /// A kind of device or a network, in few bytes: there is one of these for each account of the realm.
    private struct Known: Sendable {
        let hash: UInt32
        var hour: UInt32
    }

    private struct Account: Sendable {
        var last: EventMoment
        /// Since the last long pause.
        var signIns: UInt16 = 0
        var devices: [Known] = []
        var sources: [Known] = []
    }

    private var accounts: [UUID: Account] = [:]
    private static let mostKnown = 64

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        switch fact {
        case .registered(let account): accounts[account] = Account(last: desk.moment)
        case .accountGone(let account): accounts[account] = nil
        case .signedIn(let signIn):
            var account = accounts[signIn.account] ?? Account(last: desk.moment)
            wake(signIn, &account, &desk)
            meet(signIn.device, .newDevice, of: signIn, account.devices, account, &desk)
            meet(signIn.source, .newSource, of: signIn, account.sources, account, &desk)
            Self.remember(signIn.device, in: &account.devices, at: desk.moment)
            Self.remember(signIn.source, in: &account.sources, at: desk.moment)
            account.signIns = min(account.signIns + 1, 10_000)
            account.last = desk.moment
            accounts[signIn.account] = account
        default: return
        }
    }

    /// An account is known from its registration on, whether a person ever signed in to it or not.
    private func wake(
        _ signIn: FindingFact.SignIn, _ account: inout Account, _ desk: inout FindingDesk
    ) {
        let (last, moment) = (account.last, desk.moment)
        if let terms = desk.terms(.dormantAccount), isPast(terms, last.time, at: moment.time) {
            desk.find(.dormantAccount, .account(signIn.account), isWhole: true) {
                FindingTrigger(
                    .dormantAccount, about: .account(signIn.account), [last, moment])
            }
        }
        let rules: [FindingRule] = [.newDevice, .newSource]
        if rules.allSatisfy({ isPast(desk.rules[$0], last.time, at: moment.time) }) {
            account = Account(last: last)
        }
    }

    private func isPast(_ terms: FindingTerms, _ last: Timestamp, at now: Timestamp) -> Bool {
        last.adding(seconds: terms[.days] * 86_400) <= now
    }

    private func meet(
        _ name: String?, _ rule: FindingRule, of signIn: FindingFact.SignIn, _ known: [Known],
        _ account: Account, _ desk: inout FindingDesk
    ) {
        guard let name, let terms = desk.terms(rule), account.signIns >= terms.count(.signIns)
        else { return }
        let moment = desk.moment
        let first = Self.hour(moment) - Int64(terms[.days]) * 24
        let hash = Self.hash(name)
        guard !known.contains(where: { $0.hash == hash && Int64($0.hour) >= first }) else { return }
        desk.find(rule, .account(signIn.account), isWhole: true) {
            FindingTrigger(rule, about: .account(signIn.account), [moment])
        }
    }

    private static func remember(_ name: String?, in known: inout [Known], at moment: EventMoment) {
        guard let name else { return }
        let now = Known(hash: hash(name), hour: UInt32(clamping: hour(moment)))
        known.removeAll { $0.hash == now.hash }
        if known.count == mostKnown { known.removeFirst() }
        known.append(now)
    }

    private static func hour(_ moment: EventMoment) -> Int64 { moment.time.seconds / 3600 }

    /// FNV-1a (32 bits).
    private static func hash(_ name: String) -> UInt32 {
        name.utf8.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {}

    mutating func begin(anewAt now: Timestamp) {
        for (id, account) in accounts where account.last.time > now {
            accounts[id]?.last = EventMoment(position: account.last.position, time: now)
        }
    }
}
