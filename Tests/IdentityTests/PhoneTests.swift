import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let bob = Person(phone: "+41781234567", language: "de")
private let phones: JSONObject = ["phone_sign_in": true, "registration": "jit_on_otp"]

/// Samples of what has to do with phones.
func phoneSamples() throws -> [any Event] {
    var byPhone = IssuedCode(
        id: code, purpose: .signIn, digest: try digest(3), app: nil, issuedAt: noon,
        expiresAt: noon.adding(seconds: 600), person: bob)
    byPhone.channel = .whatsapp
    return [
        MailboxEvent.codeIssued(byPhone), MailEvent.begun(attempt: 1),
        MailEvent.delivered(.sms), MailEvent.undelivered(.whatsapp, code: "131026"),
        MessageGatewayEvent.set(
            .whatsapp,
            MessageGateway(
                kind: .whatsappCloud, address: "https://graph.example.org",
                account: "106540352242922",
                sender: "Acme", template: "sign_in_code", secret: "AAAA",
                receiptSecret: "BBBB", verifyToken: "CCCC")),
        MessageGatewayEvent.removed(.sms),
    ]
}

private func code(
    _ purpose: IssuedCode.Purpose, by channel: Channel = .sms, to person: Person = bob
) throws -> MailboxEvent {
    var issued = IssuedCode(
        id: code, purpose: purpose, digest: try digest(1), app: nil, issuedAt: noon,
        expiresAt: noon.adding(seconds: 600), person: person)
    issued.channel = channel
    return .codeIssued(issued)
}

@Suite struct `Codes that go to phones` {
    func request(_ channel: Channel = .sms, person: Person = bob) throws -> RequestOTP {
        var request = RequestOTP(
            mailbox: mailbox, person: person, code: code, digest: try digest(1), now: noon)
        request.channel = channel
        return request
    }

    @Test(arguments: Channel.ofPhones)
    func `a code goes to a phone where the realm takes phone numbers`(channel: Channel) async throws
    {
        try await givenNativeRealm(phones).when(request(channel))
            .then(code(.registration, by: channel), in: mailbox)
        for settings: JSONObject in [[:], ["phone_sign_in": false], ["registration": "jit_on_otp"]]
        {
            try await givenNativeRealm(settings).when(request(channel))
                .thenRejected(.phoneSignInDisabled)
        }
    }

    @Test func `a code by phone makes an account that knows the number and no mail address`()
        async throws
    {
        let verdict = try await givenNativeRealm(phones).given(code(.registration), in: mailbox)
            .when(otpGrant())
        guard case .success(let decision) = verdict.result,
            let made = decision.events.first(where: { $0.name == "account.registered" })
        else {
            Issue.record("nothing was decided")
            return
        }
        #expect(made.personal["phone"] == "+41781234567")
        #expect(made.personal["email"] == nil)
        #expect(made.open["phone"] == nil)
    }

    @Test func `a code by phone is one live code with tries like any other`() async throws {
        var scenario = try givenNativeRealm(phones).given(code(.registration), in: mailbox)
        try await scenario.when(request()).thenNothing()
        for _ in 1...3 {
            scenario = scenario.given(MailboxEvent.codeRefused(code, at: noon), in: mailbox)
        }
        let verdict = try await scenario.when(otpGrant())
        guard case .success(let decision) = verdict.result else {
            Issue.record("nothing was decided")
            return
        }
        #expect(decision.events.map(\.name) == ["session.refused"])
    }

    @Test func `a stranger's names are not sent to the phone of an account`() async throws {
        var named = bob
        named.firstName = "Mallory"
        try await givenNativeRealm(phones)
            .given(
                AccountEvent.registered(
                    mailbox: mailbox, isConfirmed: true, origin: .code, person: bob), in: account
            )
            .given(MailboxEvent.assigned(account), in: mailbox)
            .when(request(person: named)).then(code(.signIn), in: mailbox)
    }

    @Test(arguments: [
        nil, "", "41781234567", "+4178123456a", "+0781234567", "+4178", "+1234567890123456",
        "+41 78 123 45 67", "+٤١٧٨١٢٣٤٥٦٧",
    ])
    func `what is no number in its one form is refused`(phone: String?) async throws {
        let verdict = try await givenNativeRealm(phones)
            .when(request(person: Person(phone: phone)))
        verdict.thenRejected(
            .invalid(FieldFault("phone", phone == nil ? .missing : .malformed)))
    }

    @Test func `a code by mail needs a mail address`() async throws {
        try await givenNativeRealm(phones).when(request(.mail))
            .thenRejected(.invalid(FieldFault("email", .missing)))
    }

    private func otpGrant() throws -> RedeemGrant<OTPGrant> {
        RedeemGrant(
            OTPGrant(mailbox: mailbox, digest: try digest(1), account: account),
            GrantRequest(
                client: client, clientID: "web", proof: .none, session: session, now: noon))
    }
}

@Suite struct `Messages on their way` {
    @Test func `a message is handed over once`() async throws {
        let begun = MailEvent.begun(attempt: 1)
        try await given().when(BeginMessage(mail: code)).then(begun, in: code)
        // Nobody knows what became of it: it is not sent again.
        try await given(begun, in: code).when(BeginMessage(mail: code))
            .then(MailEvent.failed(attempt: 1, code: 0, reason: .unsettled), in: code)
        for settled in [MailEvent.sent(attempt: 1), .failed(attempt: 1, code: 0)] {
            try await given(begun, settled, in: code).when(BeginMessage(mail: code)).thenNothing()
        }
    }

    @Test func `a message that was not taken now is handed over again`() async throws {
        let begun = MailEvent.begun(attempt: 1)
        let refused = RecordDeliveries(
            [.init(mail: code, outcome: .refusedForNow(code: 429, .refused))], now: noon)
        let deferred = MailEvent.deferred(
            attempt: 1, until: noon.adding(seconds: 5), code: 429, reason: .refused)
        try await given(begun, in: code).when(refused).then(deferred, in: code)
        try await given(begun, deferred, in: code).when(BeginMessage(mail: code))
            .then(MailEvent.begun(attempt: 2), in: code)
    }
}

@Suite struct `Delivery receipts` {
    private func record(_ receipt: MessageReceipt, of mail: UUID = code)
        -> MailChange.Change<MailChange.RecordReceiptRejection>
    {
        MailChange.recordReceipt(mail, channel: .sms, receipt: receipt)
    }

    private let begun = given(MailEvent.begun(attempt: 1), MailEvent.sent(attempt: 1), in: code)

    @Test func `a receipt of a message is recorded once`() async throws {
        let delivered = MailEvent.delivered(.sms)
        try await begun.when(record(.delivered)).then(delivered, in: code)
        let told = begun.given(delivered, in: code)
        try await told.when(record(.delivered)).then(Decision())
        try await told.when(record(.undelivered(code: "30003"))).then(Decision())
    }

    @Test func `a message that did not arrive at first may arrive later`() async throws {
        let failed = MailEvent.undelivered(.sms, code: "30003")
        try await begun.when(record(.undelivered(code: "30003"))).then(failed, in: code)
        let told = begun.given(failed, in: code)
        try await told.when(record(.undelivered(code: "30005"))).then(Decision())
        try await told.when(record(.delivered)).then(MailEvent.delivered(.sms), in: code)
    }

    @Test func `a receipt of no message is refused`() async throws {
        try await given().when(record(.delivered)).thenRejected(.unknown)
        try await given(MailEvent.sent(attempt: 1), in: code).when(record(.delivered))
            .thenRejected(.unknown)
    }

    @Test func `a receipt has no message sent again`() async throws {
        for receipt in [MailEvent.delivered(.sms), .undelivered(.sms)] {
            var mail = Mail()
            for event in [MailEvent.begun(attempt: 1), .sent(attempt: 1), receipt] {
                mail.apply(event)
            }
            #expect(mail.status == .sent && mail.attempts == 1)
            try await begun.given(receipt, in: code).when(MailChange.requeue(code))
                .thenRejected(.notFailed)
        }
    }
}

@Suite struct `Message gateways` {
    static let twilio = MessageGateway(
        kind: .twilio, address: "https://api.twilio.com", account: "AC01", sender: "+15005550006",
        secret: "s3cret")
    static let cloud = MessageGateway(
        kind: .whatsappCloud, address: "https://graph.facebook.com", account: "1065",
        template: "sign_in_code", secret: "s3cret")

    @Test func `a gateway is set for a channel, and removed`() async throws {
        let set = MessageGatewayEvent.set(.sms, Self.twilio)
        try await givenRealm().when(MessageGatewayChange.set(.sms, Self.twilio))
            .then(set, in: MessageGateways.stream)
        try await givenRealm().given(set, in: MessageGateways.stream)
            .when(MessageGatewayChange.remove(.sms))
            .then(MessageGatewayEvent.removed(.sms), in: MessageGateways.stream)
        try await givenRealm().when(MessageGatewayChange.remove(.sms)).thenRejected(.notSet)
        try await givenRealm().when(MessageGatewayChange.set(.whatsapp, Self.cloud))
            .then(MessageGatewayEvent.set(.whatsapp, Self.cloud), in: MessageGateways.stream)
    }

    @Test func `a gateway that could not be called is refused`() async throws {
        let faults: [(String, FieldFault.Reason, Channel, (inout MessageGateway) -> Void)] = [
            ("channel", .unsupported, .mail, { _ in }),
            ("address", .unsafeScheme, .sms, { $0.address = "http://sms.example.org" }),
            ("address", .malformed, .sms, { $0.address = "sms.example.org" }),
            ("secret", .missing, .sms, { $0.secret = "" }),
            ("secret", .malformed, .sms, { $0.secret = "a\r\nX-Other: b" }),
            ("account", .missing, .sms, { $0.account = nil }),
            ("account", .malformed, .sms, { $0.account = "AC/../x" }),
            ("sender", .missing, .sms, { $0.sender = nil }),
            ("sender", .malformed, .sms, { $0.sender = "a&To=b" }),
            ("template", .missing, .whatsapp, { $0.template = nil }),
            ("receipt_secret", .unsupported, .sms, { $0.receiptSecret = "0123456789abcdef" }),
            ("verify_token", .unsupported, .sms, { $0.verifyToken = "0123456789abcdef" }),
        ]
        for (field, reason, channel, change) in faults {
            var gateway = Self.twilio
            change(&gateway)
            try await givenRealm().when(MessageGatewayChange.set(channel, gateway))
                .thenRejected(.invalid(FieldFault(field, reason)))
        }
        for (field, change) in [
            ("receipt_secret", { $0.receiptSecret = "short" }),
            ("verify_token", { $0.verifyToken = "with a space" }),
        ] as [(String, (inout MessageGateway) -> Void)] {
            var gateway = Self.cloud
            change(&gateway)
            try await givenRealm().when(MessageGatewayChange.set(.whatsapp, gateway))
                .thenRejected(.invalid(FieldFault(field, .malformed)))
        }
        try await givenRealm().when(MessageGatewayChange.set(.sms, Self.cloud))
            .thenRejected(.invalid(FieldFault("channel", .unsupported)))
    }
}
