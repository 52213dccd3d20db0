internal import HTTP
internal import Identity
internal import JSON
import Synchronization
internal import Values

/// What a request has proved before it is counted, and with that whose budget it uses.
enum RateStanding: Equatable {
    /// It shows something authentic, such as a refresh token: its holder alone can use this budget up.
    case holder(String)
    /// A client that authenticated and acts for itself.
    case client(String)
    /// Nothing yet: until it has succeeded it counts for its network, and for its client there.
    case unproved(client: String)
    /// The same, of a client that authenticated: many may be under way at once, and what fails is counted then.
    case unprovedByClient(String)
}

/// Counts a request towards the rate limits of its realm.
struct RateCounter {
    private let call: Call<RealmContext>
    private var context: RealmContext { call.context }

    init(_ call: Call<RealmContext>) { self.call = call }

    /// Counts the request; throws 429 where that is one too many. Of an app's codes by mail its joins alone are
    /// counted, and not here.
    func count(
        _ policy: RatePolicy, target: String? = nil, client: String? = nil
    ) throws(Problem) {
        let app = policy == .nativeOTP ? nil : context.place.app?.description
        try count(
            policy,
            RateLimits.Subjects(source: source, target: target, client: client, app: app))
    }

    /// Counts the request for its whole realm, which belongs to one owner.
    func countRealm(_ policy: RatePolicy) throws(Problem) {
        try count(policy, target: "realm")
    }

    /// Counts the request for the holder of what it shows, if that is authentic; else for its network.
    func count(_ policy: RatePolicy, heldBy holder: String?) throws(Problem) {
        guard let holder else { return try count(policy) }
        try count(policy, RateLimits.Subjects(target: holder))
    }

    /// Counts the request for the one whose budget it uses, and carries it out. What was unproved and
    /// succeeds has used nothing up, nor has what an outage kept from being done: only failures are
    /// left, of this network alone. So no stranger uses up what the people of a client share.
    func counting<Value>(
        _ policy: RatePolicy, _ standing: RateStanding,
        _ body: () async throws(Problem) -> Value
    ) async throws(Problem) -> Value {
        switch standing {
        case .holder(let holder):
            try count(policy, heldBy: holder)
            return try await body()
        case .client(let clientID):
            try count(policy, RateLimits.Subjects(client: clientID))
            return try await body()
        case .unproved(let clientID):
            let subjects = RateLimits.Subjects(source: source, client: atSource(clientID))
            try count(policy, subjects)
            do throws(Problem) {
                let value = try await body()
                giveBack(policy, subjects)
                return value
            } catch {
                if error.kind.status.code >= 500 { giveBack(policy, subjects) }
                throw error
            }
        case .unprovedByClient(let clientID):
            let subjects = RateLimits.Subjects(source: source, client: atSource(clientID))
            try count(policy, subjects)
            giveBack(policy, subjects)
            do throws(Problem) {
                return try await body()
            } catch {
                if error.kind.status.code < 500 { try? count(policy, subjects) }
                throw error
            }
        }
    }

    /// What a client is counted by that has not authenticated: any caller can name it.
    func atSource(_ clientID: String) -> String { "\(clientID) \(source.network)" }

    /// What a client is counted by: by itself where it authenticated.
    func name(of client: PresentClient) -> String {
        client.proof == .none ? atSource(client.clientID) : client.clientID
    }

    /// Takes back what this request was counted for mailboxes and accounts.
    func giveBack() {
        let taken = call.charges.withLock { charges in
            defer { charges = [] }
            return charges
        }
        for (policy, target) in taken {
            giveBack(policy, RateLimits.Subjects(target: target))
        }
    }

    /// What is counted for a person, by the block of networks that asks: strangers elsewhere leave the person all of it.
    func atBlock(_ target: String) -> String { "\(target) \(source.block)" }

    /// False where the mailbox has had all the codes it may have: its person uses one of those. Throws
    /// where this network asked for too many.
    func allows(_ count: () throws(Problem) -> Void) throws(Problem) -> Bool {
        do throws(Problem) {
            try count()
            return true
        } catch {
            guard error.kind == .rateLimited,
                error.members["dimension"]?.string == RateDimension.target.rawValue
            else { throw error }
            return false
        }
    }

    /// Counts a registration. A source beyond the rate limit is told nothing.
    func allowsSignUp() -> Bool {
        context.limits.allowsSignUp(
            from: source, to: context.place.app?.description, in: context.place.realm,
            rates: context.rates, at: context.clock.passed())
    }

    private var source: Source { Source(context.place.address) }

    private func count(
        _ policy: RatePolicy, _ subjects: RateLimits.Subjects
    ) throws(Problem) {
        do throws(Problem) {
            try context.limits.count(
                policy, subjects, in: context.place.realm, rates: context.rates,
                at: context.clock.passed())
        } catch {
            var problem = error
            // There may be other ways to sign in.
            problem.nextPage = ReturnTarget.nextPage(after: call) ?? context.place.home
            throw problem
        }
        if let target = subjects.target { call.charges.withLock { $0.append((policy, target)) } }
    }

    private func giveBack(_ policy: RatePolicy, _ subjects: RateLimits.Subjects) {
        context.limits.giveBack(
            policy, subjects, in: context.place.realm, rates: context.rates)
    }
}
