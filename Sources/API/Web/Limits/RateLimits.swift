public import EventSourcing
internal import HTTP
import Synchronization
public import Telemetry

/// Counts in this process how often something was asked, by realm, policy and dimension.
///
/// Each pair of policy and dimension has its own fixed number of buckets, of which the one that
/// was not used for the longest time is forgotten: memory is bounded, and a flood of one kind
/// (such as of sources) forgets nothing of another (such as of mailboxes).
public final class RateLimits: Sendable {
    /// Whom a request is counted for. A nil subject is not counted.
    public struct Subjects: Sendable {
        var source: Source?
        var target: String?
        var client: String?
        var app: String?

        public init(
            source: Source? = nil, target: String? = nil, client: String? = nil,
            app: String? = nil
        ) {
            self.source = source
            self.target = target
            self.client = client
            self.app = app
        }

        /// What is closest to the sender comes first.
        fileprivate var keys: [(RateDimension, String)] {
            let all: [(RateDimension, String?)] = [
                (.source, source?.network), (.target, target), (.client, client), (.app, app),
            ]
            return all.compactMap { dimension, key in key.map { (dimension, $0) } }
        }
    }

    private let buckets: [RatePolicy: [RateDimension: Buckets]]
    private let refusals: Family<Counter>

    /// `capacity`: how many buckets each policy has for each dimension. A bucket that is in use
    /// takes about a hundred bytes.
    public init(capacity: Int = 16_384, metrics: Metrics = Metrics()) {
        refusals = metrics.counter(
            "urd_rate_limit_refusals_total",
            help: "Requests beyond a rate limit, which were refused.",
            labels: ["policy", "dimension"])
        buckets = Dictionary(
            uniqueKeysWithValues: RatePolicy.allCases.map { policy in
                (
                    policy,
                    Dictionary(
                        uniqueKeysWithValues: RateDimension.allCases.map {
                            ($0, Buckets(capacity))
                        })
                )
            })
    }

    /// Counts a request; throws 429 where that is one too many.
    ///
    /// What is closest to the sender is asked first, and the first refusal ends it: a client that
    /// is refused as a source can't use up what others share, a client's or an app's rate.
    public func count(
        _ policy: RatePolicy, _ subjects: Subjects, in realm: RealmID,
        rates: RateTable = .standard, at now: Duration
    ) throws(Problem) {
        for (dimension, key) in subjects.keys {
            guard let rate = rates[policy, dimension],
                let wait = buckets[policy]?[dimension]?.take(
                    rate, key, realm, nanoseconds(now))
            else { continue }
            refusals[policy.rawValue, dimension.rawValue].add()
            throw Problem(RateLimitRefusal(policy, dimension, after: wait))
        }
    }

    /// Takes back what was counted: an outage kept it from being done, or it was no failure.
    func giveBack(
        _ policy: RatePolicy, _ subjects: Subjects, in realm: RealmID, rates: RateTable
    ) {
        for (dimension, key) in subjects.keys {
            guard let rate = rates[policy, dimension] else { continue }
            buckets[policy]?[dimension]?.giveBack(rate, key, realm)
        }
    }

    /// Counts a registration, for its source and then for its app. Beyond either limit the caller is not told:
    /// no account is made.
    public func allowsSignUp(
        _ policy: RatePolicy = .nativeOTP, from source: Source, to app: String? = nil,
        in realm: RealmID, rates: RateTable = .standard, at now: Duration
    ) -> Bool {
        func takes(_ dimension: RateDimension, _ key: String) -> Bool {
            guard let rate = rates[policy, dimension] else { return true }
            return buckets[policy]?[dimension]?.take(rate, key, realm, nanoseconds(now)) == nil
        }
        return takes(.signUps, source.network) && app.map { takes(.app, $0) } ?? true
    }

    /// How many buckets are in use.
    var count: Int {
        buckets.values.flatMap(\.values).reduce(0) { $0 + $1.count }
    }

    private func nanoseconds(_ time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        // Three hundred years are far enough, and leave room to add to.
        let limit = Int64.max / 2
        guard !overflow, whole.magnitude < UInt64(limit) else { return seconds < 0 ? 0 : limit }
        return whole + attoseconds / 1_000_000_000
    }
}

/// The network that a request comes from. An IPv6 host has 2⁶⁴ addresses: all of those are one. An
/// IPv4 address that is written as an IPv6 one is the same address.
public struct Source: Sendable, Hashable {
    public let network: String
    /// What it is part of, the widest first: who has one network of such a block often has all of them.
    public let blocks: [String]
    /// The narrowest of them: a /24, a /48.
    var block: String { blocks.last ?? network }

    /// All malformed addresses are one source: no client bypasses a rate limit by having none.
    public init(_ address: String) {
        guard let read = IPAddress(address) else {
            network = "unknown"
            blocks = []
            return
        }
        let plain = read.withoutMapping
        if plain.isIPv6 {
            let parts = read.bytes.map { String($0, radix: 16) }
            network = "6:" + parts.prefix(8).joined(separator: ".")
            blocks = [4, 6].map { "6:" + parts.prefix($0).joined(separator: ".") }
        } else {
            // Four numbers have one spelling.
            network = read.isIPv6 ? plain.description : address
            let parts = network.split(separator: ".")
            blocks = [2, 3].map { parts.prefix($0).joined(separator: ".") }
        }
    }
}

/// The buckets of one policy and dimension.
private final class Buckets: Sendable {
    /// Two hashes with keys that are this process's own: they never collide by chance, an attacker
    /// can't search for collisions, and a bucket has one size however long a name is.
    private struct Key: Hashable {
        let first: Int
        let second: Int

        init(_ realm: RealmID, _ name: String) {
            func hash(_ turn: UInt8) -> Int {
                var hasher = Hasher()
                hasher.combine(turn)
                hasher.combine(realm)
                hasher.combine(name)
                return hasher.finalize()
            }
            first = hash(0)
            second = hash(1)
        }
    }

    private let known: Mutex<LeastRecent<Key, Bucket>>

    init(_ capacity: Int) {
        known = Mutex(LeastRecent(capacity: capacity))
    }

    var count: Int { known.withLock { $0.count } }

    func giveBack(_ rate: Rate, _ name: String, _ realm: RealmID) {
        let key = Key(realm, name)
        known.withLock { buckets in
            guard var bucket = buckets.value(of: key) else { return }
            bucket.giveBack(rate)
            buckets.set(bucket, for: key)
        }
    }

    func take(_ rate: Rate, _ name: String, _ realm: RealmID, _ now: Int64) -> Int64? {
        let key = Key(realm, name)
        return known.withLock { buckets in
            var bucket = buckets.value(of: key) ?? Bucket()
            let wait = bucket.take(rate, at: now)
            // Also a refused one was used: who keeps trying isn't forgotten.
            buckets.set(bucket, for: key)
            return wait
        }
    }
}
