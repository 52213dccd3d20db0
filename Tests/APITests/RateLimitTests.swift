import EventSourcing
import HTTP
import JSON
import LogTesting
import Synchronization
import Testing

@testable import API

@Suite struct `A token bucket` {
    @Test func `a token bucket gives its burst at once and then one token per interval`() throws {
        let rate = try #require(Rate(60, per: .seconds(60), burst: 3))
        var bucket = Bucket()
        let start: Int64 = 1_000_000_000_000
        for _ in 0..<3 { #expect(bucket.take(rate, at: start) == nil) }
        #expect(bucket.take(rate, at: start) == 1_000_000_000)
        #expect(bucket.take(rate, at: start + 999_999_999) == 1)
        #expect(bucket.take(rate, at: start + 1_000_000_000) == nil)
        #expect(bucket.take(rate, at: start + 1_000_000_000) == 1_000_000_000)
    }

    @Test func `a token bucket refills in time and never beyond its burst`() throws {
        let rate = try #require(Rate(5, per: .seconds(3_600)))
        var bucket = Bucket()
        for turn in 0..<3 as Range<Int64> {
            let now = turn * 100 * 3_600_000_000_000
            for _ in 0..<5 { #expect(bucket.take(rate, at: now) == nil) }
            #expect(bucket.take(rate, at: now) == 720_000_000_000)
        }
    }

    @Test func `a refused request takes nothing from a token bucket`() throws {
        let rate = try #require(Rate(1, per: .seconds(10)))
        var bucket = Bucket()
        #expect(bucket.take(rate, at: 0) == nil)
        for now in 1..<10 as Range<Int64> {
            #expect(bucket.take(rate, at: now * 1_000_000_000) == (10 - now) * 1_000_000_000)
        }
        #expect(bucket.take(rate, at: 10_000_000_000) == nil)
    }

    @Test func `a token bucket applies a new rate to an old debt and survives a clock set back`()
        throws
    {
        let slow = try #require(Rate(1, per: .seconds(86_400)))
        let fast = try #require(Rate(10, per: .seconds(10)))
        var bucket = Bucket()
        #expect(bucket.take(slow, at: 0) == nil)
        #expect((bucket.take(fast, at: 0) ?? 0) <= 1_000_000_000)
        #expect(bucket.take(fast, at: 1_000_000_000) == nil)
        var back = Bucket()
        #expect(back.take(fast, at: 1_000_000_000_000) == nil)
        #expect((back.take(fast, at: 0) ?? 0) <= 1_000_000_000)
    }

    @Test(arguments: [UInt64](1...10))
    func `a token bucket never gives more than its rate over any time`(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let amount = Int.random(in: 1...100, using: &random)
        let burst = Int.random(in: 1...100, using: &random)
        let seconds = Int64.random(in: 1...100, using: &random)
        let rate = try #require(Rate(amount, per: .seconds(seconds), burst: burst))
        var bucket = Bucket()
        var now: Int64 = 5_000_000_000
        let start = now
        var given = 0
        for _ in 0..<5_000 {
            now += Int64.random(in: 0...seconds * 20_000_000, using: &random)
            if bucket.take(rate, at: now) == nil { given += 1 }
            let most = Double(burst) + Double(now - start) / Double(rate.interval)
            #expect(Double(given) <= most + 1e-6, "seed \(seed)")
        }
    }

    @Test func `a token bucket refuses rates that cannot be counted`() {
        #expect(Rate(0, per: .seconds(1)) == nil)
        #expect(Rate(-1, per: .seconds(1)) == nil)
        #expect(Rate(1, per: .zero) == nil)
        #expect(Rate(1, per: .seconds(-1)) == nil)
        #expect(Rate(1, per: .seconds(1), burst: 0) == nil)
        #expect(Rate(1, per: .seconds(31 * 86_400), burst: 1_000_000) == nil)
        #expect(Rate(1, per: .seconds(Int64.max)) == nil)
        #expect(Rate(1_000_000, per: .milliseconds(1), burst: 1_000_000) != nil)
    }
}

@Suite struct `Rate limits` {
    private let realm: RealmID
    private let other: RealmID
    private let source = Source("192.0.2.1")

    init() throws {
        realm = try #require(RealmID("acme"))
        other = try #require(RealmID("other"))
    }

    /// Nil: counted. Else the limit that was passed.
    private func count(
        _ limits: RateLimits, _ policy: RatePolicy, _ subjects: RateLimits.Subjects,
        in realm: RealmID? = nil, rates: RateTable = .standard, at now: Duration = .seconds(9)
    ) -> Problem? {
        do {
            try limits.count(policy, subjects, in: realm ?? self.realm, rates: rates, at: now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `rate limits equal the documented table`() {
        let expected: [(RatePolicy, [RateDimension: Int])] = [
            (.nativeOTP, [.source: 300, .signUps: 10, .target: 5, .client: 600, .app: 3000]),
            (.verifyCode, [.source: 10, .target: 5]), (.verifyBrowser, [.target: 5]),
            (.phoneCode, [.source: 10, .target: 5, .app: 1000]), (.phoneBlock, [.target: 40]),
            (.magicLink, [.source: 300, .target: 5, .client: 600]),
            (.passwordReset, [.source: 300, .target: 5, .client: 600]),
            (.emailVerification, [.source: 300, .target: 5, .client: 600]),
            (.emailOTPVerify, [.source: 200, .target: 15, .client: 600]),
            (.passphrase, [.source: 200, .target: 15]),
            (.federationLogin, [.source: 200, .target: 10]),
            (.passkeyBegin, [.source: 300, .target: 60, .client: 1200]),
            (.twoFactor, [.source: 200, .target: 15]),
            (.oauthToken, [.source: 200, .target: 60, .client: 60]), (.bootstrap, [.source: 10]),
            (.deviceCode, [.source: 60, .target: 10, .client: 600]),
            (.clientRegistration, [.source: 40, .app: 1200]),
            (.installation, [.source: 25, .target: 50]),
            (.ownerSignIn, [.source: 500, .target: 1000]),
            (.ownerMail, [.target: 20]), (.certification, [.target: 30]),
            (.notification, [.target: 30]),
            (.messageReceipt, [.source: 1200]),
            (.ownerLink, [.target: 30]), (.ownerLinkCheck, [.target: 30]),
            (.provider, [.source: 200]), (.ownerHint, [.target: 2]),
            (.ownerInvitation, [.target: 2]),
        ]
        #expect(expected.count == RatePolicy.allCases.count)
        for (policy, bursts) in expected {
            for dimension in RateDimension.allCases {
                #expect(RateTable.standard[policy, dimension]?.burst == bursts[dimension])
            }
        }
    }

    @Test func `rate limits count by mailbox across sources and answer with Retry-After`() throws {
        let limits = RateLimits()
        for turn in 0..<5 {
            let subjects = RateLimits.Subjects(
                source: Source("192.0.2.\(turn)"), target: "a@example.com")
            #expect(count(limits, .nativeOTP, subjects) == nil)
        }
        let subjects = RateLimits.Subjects(source: source, target: "a@example.com")
        let problem = try #require(count(limits, .nativeOTP, subjects))
        #expect(problem.kind == .rateLimited)
        #expect(problem.members["policy"] == "native-otp")
        #expect(problem.members["dimension"] == "target")
        #expect(problem.members["retryAfterSeconds"] == 720)
        #expect(problem.headers.contains { $0 == ("Retry-After", "720") })
        #expect(count(limits, .nativeOTP, subjects, at: .seconds(9 + 720)) == nil)
        #expect(count(limits, .nativeOTP, subjects, in: other) == nil)
        #expect(count(limits, .magicLink, subjects) == nil)
        let neighbour = RateLimits.Subjects(source: source, target: "b@example.com")
        #expect(count(limits, .nativeOTP, neighbour) == nil)
    }

    @Test func `rate limits take nothing of a shared budget for a refused request`() {
        let limits = RateLimits()
        let flood = RateLimits.Subjects(
            source: source, target: "a@example.com", client: "app", app: "desk")
        for _ in 0..<300 { _ = count(limits, .nativeOTP, flood) }
        #expect(count(limits, .nativeOTP, flood)?.members["dimension"] == "source")
        // Five of the client's six hundred were used, one for each mail.
        for turn in 0..<595 {
            let subjects = RateLimits.Subjects(
                source: Source("198.51.100.\(turn % 250)"), target: "\(turn)", client: "app")
            #expect(count(limits, .nativeOTP, subjects) == nil)
        }
        let last = RateLimits.Subjects(
            source: Source("198.51.100.1"), target: "x", client: "app")
        #expect(count(limits, .nativeOTP, last)?.members["dimension"] == "client")
    }

    @Test func `rate limits count an IPv6 network as one source`() {
        #expect(Source("2001:db8:1:2::1") == Source("2001:0DB8:1:2:ffff::9"))
        #expect(Source("2001:db8:1:2::1") != Source("2001:db8:1:3::1"))
        #expect(Source("::ffff:192.0.2.1") == Source("192.0.2.1"))
        #expect(Source("192.0.2.1") != Source("192.0.2.2"))
        #expect(Source("") == Source("not an address"))
        #expect(Source("::1") != Source("::ffff:0.0.0.1"))
    }

    @Test func `rate limits on sign-ups answer without telling so`() {
        let limits = RateLimits()
        for _ in 0..<10 {
            #expect(limits.allowsSignUp(from: source, in: realm, at: .seconds(1)))
        }
        #expect(!limits.allowsSignUp(from: source, in: realm, at: .seconds(1)))
        #expect(limits.allowsSignUp(from: Source("192.0.2.9"), in: realm, at: .seconds(1)))
        #expect(limits.allowsSignUp(from: source, in: realm, at: .seconds(361)))
    }

    @Test func `rate limits on an app's joins are silent, and count no request of its people`() {
        let limits = RateLimits()
        func joins(_ network: Int) -> Bool {
            limits.allowsSignUp(
                from: Source("10.\(network / 250).\(network % 250).1"), to: "desk", in: realm,
                at: .seconds(1))
        }
        for network in 0..<3_000 { #expect(joins(network)) }
        #expect(!joins(3_000))
        #expect(limits.allowsSignUp(from: source, to: "shop", in: realm, at: .seconds(1)))
    }

    @Test func `rate limits may be changed or lifted by a realm`() {
        let limits = RateLimits()
        var rates = RateTable.standard
        rates[.oauthToken, .client] = nil
        rates[.oauthToken, .source] = Rate(1, per: .seconds(60))
        let subjects = RateLimits.Subjects(source: source, client: "app")
        #expect(count(limits, .oauthToken, subjects, rates: rates) == nil)
        #expect(count(limits, .oauthToken, subjects, rates: rates) != nil)
        #expect(count(limits, .oauthToken, subjects, in: other) == nil)
    }

    @Test func `rate limits hold for simultaneous requests`() async {
        let limits = RateLimits()
        let passed = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var passed = 0
                    for turn in 0..<100 {
                        let subjects = RateLimits.Subjects(
                            source: Source("10.0.\(turn).1"), client: "app")
                        if self.count(limits, .oauthToken, subjects) == nil { passed += 1 }
                    }
                    return passed
                }
            }
            return await group.reduce(0, +)
        }
        #expect(passed == 60)
    }

    @Test func `rate limits use bounded memory and forget the oldest entries first`() {
        let limits = RateLimits(capacity: 100)
        func ask(_ name: Int) -> Bool {
            let subjects = RateLimits.Subjects(
                source: Source("10.\(name / 65536).\(name / 256 % 256).\(name % 256)"),
                target: "victim")
            return count(limits, .emailOTPVerify, subjects) == nil
        }
        for _ in 0..<15 { #expect(ask(0)) }
        for name in 1..<5_000 {
            // The mailbox stays limited while sources come and go.
            #expect(!ask(name))
        }
        #expect(limits.count == 101)
    }

    @Test func `rate limits survive any time of the clock`() {
        let subjects = RateLimits.Subjects(source: source)
        for time in [
            Duration.zero, .seconds(-5), .seconds(Int64.max), .seconds(Int64.min),
            .nanoseconds(Int64.max), .seconds(9_000_000_000),
        ] {
            let limits = RateLimits()
            for _ in 0..<10 {
                #expect(count(limits, .bootstrap, subjects, at: time)?.kind == nil)
            }
            #expect(count(limits, .bootstrap, subjects, at: time) != nil)
            _ = count(limits, .bootstrap, subjects, at: .zero)
        }
    }
}
