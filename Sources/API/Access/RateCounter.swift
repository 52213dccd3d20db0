import Synchronization
internal import Values

/// Counts a request towards the rate limits of its realm.
struct RateCounter {
    private let call: Call<RealmContext>
    private var context: RealmContext { call.context }

    init(_ call: Call<RealmContext>) { self.call = call }

    /// Counts the request; throws 429 where that is one too many.
    func count(
        _ policy: RatePolicy, target: String? = nil, client: String? = nil
    ) throws(Problem) {
        do throws(Problem) {
            try context.limits.count(
                policy,
                .init(
                    source: Source(context.place.address), target: target, client: client,
                    app: context.place.app?.description),
                in: context.place.realm, rates: context.rates, at: context.clock.passed())
        } catch {
            var problem = error
            // There may be other ways to sign in.
            problem.nextPage = ReturnTarget.nextPage(after: call) ?? context.place.home
            throw problem
        }
        if let target { call.charges.withLock { $0.append((policy, target)) } }
    }

    /// Counts the request for its whole realm, which belongs to one owner.
    func countRealm(_ policy: RatePolicy) throws(Problem) {
        try count(policy, target: "realm")
    }

    /// Takes back what this request was counted for mailboxes and accounts.
    func giveBack() {
        let taken = call.charges.withLock { charges in
            defer { charges = [] }
            return charges
        }
        for (policy, target) in taken {
            context.limits.giveBack(
                policy, target: target, in: context.place.realm, rates: context.rates)
        }
    }

    /// Counts a registration. A source beyond the rate limit is told nothing.
    func allowsSignUp() -> Bool {
        context.limits.allowsSignUp(
            from: Source(context.place.address), in: context.place.realm, rates: context.rates,
            at: context.clock.passed())
    }
}
