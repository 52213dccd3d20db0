import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `A mail` {
    private func record(
        _ outcome: RecordDeliveries.Outcome, deadline: Timestamp? = nil
    ) -> RecordDeliveries {
        RecordDeliveries(
            [.init(mail: code, outcome: outcome, deadline: deadline)], now: noon)
    }

    @Test func `a mail is recorded with others of its batch, except those already recorded`()
        async throws
    {
        let other = UUID(high: 7, low: 7)
        let both = RecordDeliveries(
            [
                .init(mail: code, outcome: .taken(), isFirst: true),
                .init(mail: other, outcome: .refusedForGood(code: 550), isFirst: true),
            ], now: noon)
        let verdict = try await given(MailEvent.sent(attempt: 1), in: code).when(both)
        guard case .success(let decision) = verdict.result else {
            Issue.record("nothing was decided")
            return
        }
        #expect(decision.events.map(\.stream) == [other])
        #expect(decision.events.map(\.name) == ["mail.failed"])
        try await given(MailEvent.sent(attempt: 1), in: code)
            .given(MailEvent.sent(attempt: 1), in: other)
            .when(both).thenRejected(.alreadySettled)
    }

    @Test func `a mail that a server took is marked as sent, once`() async throws {
        let sent = MailEvent.sent(attempt: 1)
        try await given().when(record(.taken())).then(sent, in: code)
        try await given(sent, in: code).when(record(.taken())).thenRejected(.alreadySettled)
        try await given().when(record(.taken(by: .sms)))
            .then(MailEvent.sent(attempt: 1, by: .sms), in: code)
    }

    @Test func `a mail that is refused for now is retried with back-off, and then given up`()
        async throws
    {
        var scenario = given()
        var last: Int64 = 0
        for attempt in 1...10 {
            let verdict = try await scenario.when(record(.refusedForNow(code: 451)))
            guard case .success(let decision) = verdict.result,
                let until = decision.events.first?.open["until"]?.integer
            else {
                Issue.record("attempt \(attempt)")
                return
            }
            #expect(until - noon.seconds >= last)
            last = until - noon.seconds
            scenario = scenario.given(
                MailEvent.deferred(attempt: attempt, until: noon, code: 451), in: code)
        }
        try await scenario.when(record(.refusedForNow(code: 451)))
            .then(MailEvent.failed(attempt: 11, code: 451), in: code)
    }

    @Test func `a mail is not retried after its content expired`() async throws {
        try await given()
            .when(record(.refusedForNow(code: 0), deadline: noon.adding(seconds: 5)))
            .then(MailEvent.failed(attempt: 1, code: 0), in: code)
        try await given()
            .when(record(.refusedForNow(code: 0), deadline: noon.adding(seconds: 6))).then(
                MailEvent.deferred(attempt: 1, until: noon.adding(seconds: 5), code: 0), in: code)
    }

    @Test(arguments: MailFault.allCases)
    func `a mail that fails has the reason on record`(fault: MailFault) async throws {
        try await given().when(record(.refusedForGood(code: 0, fault)))
            .then(MailEvent.failed(attempt: 1, code: 0, reason: fault), in: code)
        let later = noon.adding(seconds: 5)
        try await given().when(record(.refusedForNow(code: 0, fault))).then(
            MailEvent.deferred(attempt: 1, until: later, code: 0, reason: fault), in: code)
        try await given().when(record(.refusedForNow(code: 0, fault), deadline: later))
            .then(MailEvent.failed(attempt: 1, code: 0, reason: fault), in: code)
    }

    @Test func `a mail that is refused for good can be queued again`() async throws {
        let failed = MailEvent.failed(attempt: 1, code: 550)
        try await given().when(record(.refusedForGood(code: 550))).then(failed, in: code)
        let requeue = MailChange.requeue(code)
        try await given(failed, in: code).when(requeue).then(MailEvent.requeued, in: code)
        try await given(failed, MailEvent.requeued, in: code).when(record(.taken()))
            .then(MailEvent.sent(attempt: 1), in: code)
        try await given().when(requeue).thenRejected(.notFound)
        try await given(MailEvent.sent(attempt: 1), in: code).when(requeue)
            .thenRejected(.notFailed)
    }
}
