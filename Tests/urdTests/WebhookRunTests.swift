import API
import EventSourcing
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import urd

@Suite struct `One subscription on a node` {
    private let now = Timestamp(seconds: 1_800_000_000)
    private let id = UUID(high: 0, low: 9)

    private func subscription(
        _ change: (inout SubscriptionTerms) -> Void = { _ in }
    ) throws -> Subscription {
        var terms = SubscriptionTerms(name: "CRM", url: "https://crm.example.org/")
        change(&terms)
        var subscription = Subscription()
        let secret = SubscriptionSecret(shared: Array(repeating: 1, count: 32))
        subscription.apply(.created(.webhook, terms, secret: secret, startsAfter: nil))
        return subscription
    }

    private func run(_ subscription: Subscription, waiting: [Delivery] = []) -> WebhookRun {
        WebhookRun(
            subscription, id: id, DeliveryProgress(cursor: LogCursor(epoch: 1, position: 0)),
            waiting: waiting)
    }

    private func event(
        _ position: Int64, _ name: String = "account.registered", stream: UInt64 = 1,
        open: JSONObject = [:], personal: Recorded.Personal = .none, isOwn: Bool = false
    ) throws -> Recorded {
        Recorded(
            realm: try #require(RealmID("acme")), position: position,
            stream: isOwn ? id : UUID(high: 1, low: stream), version: Int(position), name: name,
            revision: 1,
            at: now, command: UUID(high: 2, low: 2), subject: UUID(high: 3, low: 3),
            actor: "system", client: nil, correlation: nil,
            leaf: try #require(LeafHash(Array(repeating: 7, count: 32))), open: open,
            personal: personal)
    }

    private func answer(_ verdict: WebhookAnswer.Verdict) -> WebhookAnswer {
        WebhookAnswer(verdict: verdict, outcome: "said")
    }

    @Test func `what comes behind a pause in the log is not delivered, however soon it comes`()
        throws
    {
        for change in ["paused", "changed", "disabled", "secret_rotated", "deleted", "resumed"] {
            var run = WebhookRun(
                try subscription(), id: id,
                DeliveryProgress(cursor: LogCursor(epoch: 1, position: 0)), waiting: [], version: 2)
            // What made it what it is, read again.
            run.take(try event(1, "subscription.paused", isOwn: true), now: now)
            run.take(try event(2, "subscription.resumed", isOwn: true), now: now)
            run.take(try event(3), now: now)
            #expect(run.end == nil)
            #expect(run.start(at: now).map(\.position) == [3])
            run.take(try event(4, "subscription.tested", isOwn: true), now: now)
            run.take(try event(5, "subscription.paused", stream: 7), now: now)
            #expect(run.end == nil)
            run.take(try event(6, "subscription.\(change)", isOwn: true), now: now)
            #expect(run.end == .changed, "\(change)")
            #expect(run.start(at: now).isEmpty)
        }
    }

    @Test
    func `the log is read by types where they are named, and for what the run acts on itself`()
        throws
    {
        func types(_ names: [String], includesPersonal: Bool = false) throws -> Set<String>? {
            let subscription = try subscription {
                $0.filter.types = names
                $0.includesPersonal = includesPersonal
            }
            return run(subscription).types.map(Set.init)
        }
        for names in [[], ["account.*"], ["session.opened", "account.*"]] {
            #expect(try types(names) == nil)
        }
        let named = try #require(try types(["session.opened", "account.registered"]))
        for change in ["paused", "changed", "disabled", "secret_rotated", "deleted", "resumed"] {
            #expect(named.contains("subscription.\(change)"))
        }
        #expect(
            named.isSuperset(of: ["session.opened", "account.registered", AcceptedLoss.eventName]))
        #expect(named.count == 9)
        // Who ever had personal data is told of each erasure.
        let personal = try types(["session.opened"], includesPersonal: true)
        #expect(personal?.contains("account.erased") == true)
    }

    @Test func `what is under way when it is changed comes to its end first`() throws {
        var run = run(try subscription())
        run.take(try event(1), now: now)
        let item = try #require(run.start(at: now).first)
        run.take(try event(2, "subscription.changed", isOwn: true), now: now)
        #expect(run.isWindingUp && run.start(at: now).isEmpty)
        _ = run.settle(item, answer(.taken), at: now, chance: 0)
        #expect(!run.isWindingUp && run.end == .changed)
        #expect(run.takeStep()?.progress.cursor.position == 1)
    }

    @Test func `attempts are put on record together while others are under way, and soon`() throws {
        var run = run(try subscription { $0.order = .none })
        for position in 1...200 as ClosedRange<Int64> {
            run.take(try event(position), now: now)
        }
        var items = run.start(at: now)
        func take(_ count: Int) {
            for _ in 0..<count {
                _ = run.settle(items.removeFirst(), answer(.taken), at: now, chance: 0)
                items += run.start(at: now)
            }
        }
        take(1)
        let later = now.adding(microseconds: 20_000)
        #expect(!run.isStepDue(at: now))
        #expect(run.nextLook(at: now) == later)
        #expect(run.isStepDue(at: later))
        #expect(run.isStepDue(at: now.adding(seconds: -3600)), "the clock went back")
        take(126)
        #expect(!run.isStepDue(at: now))
        take(1)
        #expect(run.isStepDue(at: now))
        #expect(run.takeStep()?.attempts.count == 128)
        take(1)
        #expect(!run.isStepDue(at: now))
        // What is to be tried again is on record at once, and so is the last of all.
        _ = run.settle(items.removeFirst(), answer(.refused), at: now, chance: 0)
        #expect(run.isStepDue(at: now))
        _ = run.takeStep()
        while items.count > 1 { take(1) }
        _ = run.takeStep()
        take(1)
        #expect(items.isEmpty && run.isStepDue(at: now))
    }

    @Test func `an event that waited by other terms is looked at once more, and no other`() throws {
        let waiting = Delivery(
            position: 1, lane: UUID(high: 1, low: 1), type: "account.registered", nextAt: now)
        var run = run(try subscription(), waiting: [waiting])
        run.take(try event(1), now: now)
        run.take(try event(2, stream: 2), now: now)
        let items = run.start(at: now)
        #expect(items.map(\.position).sorted() == [1, 2])
        #expect(items.filter { run.isUnchecked($0) }.map(\.position) == [1])
    }

    @Test func `an event that waited of a type that is not known is not sent`() throws {
        let run = run(try subscription())
        func fault(_ type: String, isUnchecked: Bool) throws -> String? {
            WebhookTarget(
                subscription: run.subscription, selection: run.selection, epoch: 1, issuer: "",
                isUnchecked: isUnchecked
            ).fault(of: try event(1, type))
        }
        #expect(try fault("account.baked", isUnchecked: true) == WebhookRun.unknownType)
        #expect(try fault("account.registered", isUnchecked: true) == nil)
        // What is left out is no fault.
        #expect(try fault("client.registered", isUnchecked: true) == nil)
        #expect(try fault("account.baked", isUnchecked: false) == nil)
    }

    @Test func `a receiver that wants nothing more is disabled at once`() throws {
        var run = run(try subscription())
        run.take(try event(1), now: now)
        let item = try #require(run.start(at: now).first)
        #expect(run.settle(item, answer(.gone), at: now, chance: 0) == nil)
        #expect(run.end == .gone(from: "https://crm.example.org/", position: 1))
        #expect(run.outcome == run.end)
    }

    @Test func `a receiver that wants nothing more is heeded also while a change winds up`() throws
    {
        var run = run(try subscription())
        run.take(try event(1), now: now)
        run.take(try event(2, stream: 2), now: now)
        let items = run.start(at: now)
        run.take(try event(3, "subscription.paused", isOwn: true), now: now)
        _ = run.settle(items[0], answer(.gone), at: now, chance: 0)
        // The other one is let finish first, and counts.
        #expect(run.isWindingUp)
        _ = run.settle(items[1], answer(.taken), at: now, chance: 0)
        #expect(!run.isWindingUp && run.end == .changed)
        #expect(
            run.outcome
                == .gone(from: "https://crm.example.org/", position: items[0].position))
    }

    @Test
    func `after twelve hours of failures alone the contact is told, and after five days it ends`()
        throws
    {
        var run = run(try subscription())
        run.take(try event(1), now: now)
        let item = try #require(run.start(at: now).first)
        _ = run.settle(item, answer(.unreachable), at: now, chance: 0.5)
        #expect(run.nextLook(at: now) == now.adding(seconds: 5))
        let almost = now.adding(seconds: 12 * 3600 - 1)
        #expect(run.takeWarning(at: almost) == nil)
        #expect(run.nextLook(at: almost) == now.adding(seconds: 12 * 3600))
        #expect(run.takeWarning(at: now.adding(seconds: 12 * 3600)) == now)
        run.endIfFailing(at: now.adding(seconds: 5 * 86_400 - 1))
        #expect(run.end == nil)
        run.endIfFailing(at: now.adding(seconds: 5 * 86_400))
        #expect(run.end == .disabled(.failing, position: 1))
    }

    @Test func `the contact is told once`() throws {
        var told = try subscription()
        told.apply(.failing(since: now, mail: nil))
        var run = run(told)
        run.take(try event(1), now: now)
        let item = try #require(run.start(at: now).first)
        _ = run.settle(item, answer(.unreachable), at: now, chance: 0.5)
        #expect(run.takeWarning(at: now.adding(seconds: 86_400)) == nil)
    }

    @Test func `a single yes begins the days anew`() throws {
        var run = run(try subscription())
        run.take(try event(1), now: now)
        run.take(try event(2, stream: 2), now: now)
        let items = run.start(at: now)
        #expect(items.count == 2)
        _ = run.settle(items[0], answer(.refused), at: now, chance: 0.5)
        let later = now.adding(seconds: 6 * 86_400)
        _ = run.settle(items[1], answer(.taken), at: later, chance: 0.5)
        #expect(run.end == nil && run.takeWarning(at: later) == nil)
    }

    @Test func `personal data is held back until it is on record, and its stream behind it`() throws
    {
        var run = run(try subscription { $0.includesPersonal = true })
        run.take(try event(1, personal: .sealed), now: now)
        run.take(try event(2), now: now)
        run.take(try event(3, stream: 2), now: now)
        #expect(run.start(at: now).map(\.position) == [3])
        #expect(run.disclosure.isWaiting(1) && !run.disclosure.isWaiting(3))
        var plain = self.run(try subscription())
        plain.take(try event(1, personal: .sealed), now: now)
        #expect(plain.start(at: now).map(\.position) == [1])
    }

    @Test func `what waited for another node is looked at before it is sent`() throws {
        let waiting = Delivery(
            position: 1, lane: UUID(high: 1, low: 1), type: "account.registered", nextAt: now)
        var run = run(try subscription { $0.includesPersonal = true }, waiting: [waiting])
        #expect(run.start(at: now).isEmpty)
        #expect(run.nextUnlooked == [1])
        run.look(at: [try event(1, personal: .sealed)], leftOut: [], of: [1])
        #expect(run.start(at: now).isEmpty && run.disclosure.isWaiting(1))
        var other = self.run(
            try subscription { $0.includesPersonal = true }, waiting: [waiting])
        other.look(at: [try event(1)], leftOut: [], of: [1])
        #expect(other.start(at: now).map(\.position) == [1])
    }

    @Test func `an event of a type that is not known halts it`() throws {
        var run = run(try subscription())
        run.take(try event(1, "account.baked"), now: now)
        guard case .halted(_, position: 1)? = run.end else {
            Issue.record("It went on: \(String(describing: run.end))")
            return
        }
        #expect(run.start(at: now).isEmpty)
    }

    @Test func `a loss that an operator accepted is told once`() throws {
        let loss = AcceptedLoss(size: 90, epoch: 2, sealed: 40, head: 50)
        var run = run(try subscription())
        run.take(try event(1, AcceptedLoss.eventName, open: loss.fields), now: now)
        #expect(run.end == .rewound(keptTo: 40))
        var told = WebhookRun(
            try subscription(), id: id, DeliveryProgress(cursor: LogCursor(epoch: 1, position: 0)),
            waiting: [], toldOfRewind: 60)
        told.take(try event(1, AcceptedLoss.eventName, open: loss.fields), now: now)
        #expect(told.end == nil)
    }

    @Test func `what is due already is not waited for again and again`() throws {
        var run = run(try subscription())
        run.take(try event(1), now: now)
        run.take(try event(2, stream: 2), now: now)
        for item in run.start(at: now) {
            _ = run.settle(item, answer(.refused), at: now, chance: 0.5)
        }
        #expect(run.nextLook(at: now) == now.adding(seconds: 5))
        let later = now.adding(seconds: 5)
        #expect(run.start(at: later).count == 2)
        #expect(run.nextLook(at: later) == now.adding(seconds: 12 * 3600))
    }
}
