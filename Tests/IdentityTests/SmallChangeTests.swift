import EventSourcing
import Identity
import LogTesting
import Testing
import Values

@Suite struct `The secret of a captcha` {
    @Test func `the secret of a captcha is set in an open realm, and the same one changes nothing`()
        async throws
    {
        let set = CaptchaChange.setSecret("4A-b_9")
        let event = CaptchaEvent.secretSet("4A-b_9")
        try await givenRealm().when(set).then(event, in: Captcha.stream)
        try await givenRealm().given(event, in: Captcha.stream).when(set).thenNothing()
        try await given().when(set).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(set).thenRejected(.realmDisabled)
    }

    @Test(arguments: ["", "a b", "é", String(repeating: "a", count: 1_001)])
    func `the secret of a captcha is refused where no header could carry it`(_ secret: String)
        async throws
    {
        try await givenRealm().when(CaptchaChange.setSecret(secret))
            .thenRejected(.invalid(FieldFault("secret", .malformed)))
    }
}

@Suite struct `Personal data that is sent to a subscription` {
    @Test func `sending personal data is recorded once, in a disabled realm as well`() async throws
    {
        let id = UUID(high: 9, low: 3)
        let batch = StreamedBatch(
            subscription: UUID(high: 0, low: 77), positions: 3...9, subjects: [account])
        let record = DisclosureChange.recordStreamed(id, batch: batch)
        let streamed = DisclosureEvent.streamed(batch)
        try await givenDisabledRealm().when(record).then(streamed, in: id)
        try await given(streamed, in: id).when(record).thenRejected(.idTaken)
    }
}

@Suite struct `A test message to a webhook` {
    @Test func `a test message is recorded for a webhook that exists in an open realm`()
        async throws
    {
        let webhook = UUID(high: 0, low: 77)
        let test = SubscriptionTest(
            status: 200, outcome: "taken", milliseconds: 12, at: Timestamp(seconds: 1_795_225_283))
        let record = SubscriptionChange.recordTest(webhook, test: test)
        let created = SubscriptionEvent.created(
            .webhook, SubscriptionTerms(name: "CRM", url: "https://crm.example.org/"), secret: nil,
            startsAfter: nil, slot: 0)
        try await givenRealm().given(created, in: webhook).when(record)
            .then(SubscriptionEvent.tested(test), in: webhook)
        try await givenRealm().when(record).thenRejected(.notFound)
        try await given().when(record).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(record).thenRejected(.realmDisabled)
    }
}
