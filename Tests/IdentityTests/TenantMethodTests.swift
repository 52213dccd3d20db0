import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

let methodsStream = UUID(high: 21, low: 21)
let approvalStream = UUID(high: 22, low: 22)
/// Of what a device signed.
let signatureStream = UUID(high: 22, low: 23)
let methodOwner = MethodOwner(account: account, client: client, stream: methodsStream)

func deviceKey(
    _ byte: UInt8 = 1, _ method: TenantMethod = .trustedDevice, approvedBy: UUID? = nil
) -> DeviceKey {
    DeviceKey(
        id: UUID(high: 23, low: UInt64(byte)), method: method, algorithm: .ed25519,
        publicKey: Array(repeating: byte, count: 32), deviceType: "PHONE",
        deviceName: "Ann's phone", enrolledAt: noon, approvedBy: approvedBy)
}

func enrolled(_ key: DeviceKey) -> TenantMethodEvent {
    .keyEnrolled(key, account: account, client: client, mail: mail)
}

func pin(_ hash: String? = "scrypt$1") -> TenantMethodEvent {
    .pinSet(hash: hash, account: account, client: client, at: noon, mail: mail)
}

let wrongPIN = TenantMethodEvent.pinRefused(account: account, client: client, at: noon)

func approvalTerms(
    _ label: String = "LOGIN", _ method: TenantMethod = .trustedDevice, signedAt: Timestamp = noon,
    at: Timestamp = noon, of account: UUID? = account, stamp: Int = 0, removals: Int = 0
) -> ApprovalTerms {
    var terms = ApprovalTerms(
        number: 4711, client: client, account: account, stamp: stamp, label: label,
        method: method, signedAt: signedAt, at: at, address: "203.0.113.7",
        from: SignInPlace(source: "AAAA", device: "iPhone", location: zurich))
    terms.removals = removals
    return terms
}

let awaited = TenantMethodEvent.approvalAwaited(
    AwaitedApproval(
        approval: approvalStream, number: 4711,
        expiresAt: noon.adding(seconds: Approval.patience)), account: account, client: client)

/// Samples of what people do within the apps of a tenant.
func tenantMethodSamples() -> [any Event] {
    [
        enrolled(deviceKey(approvedBy: session)),
        TenantMethodEvent.keyRemoved(session, account: account, client: client), pin(), wrongPIN,
        TenantMethodEvent.pinUsed(account: account, client: client),
        TenantMethodEvent.pinRemoved(account: account, client: client),
        TenantMethodEvent.approvalAwaited(
            AwaitedApproval(
                approval: approvalStream, number: 4711, expiresAt: noon, network: [1, 2, 3]),
            account: account, client: client),
        ApprovalEvent.requested(approvalTerms(removals: 1)),
        ApprovalEvent.answered(
            isApproved: true, key: session, account: account, client: client, at: noon),
        ApprovalEvent.given(approvalTerms(removals: 1), key: session),
        ApprovalEvent.signatureUsed(approval: approvalStream, account: account, client: client),
    ]
}

let tenantMetadata: JSONObject = [
    "profile": "verify", "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"], "application_type": "web",
    "token_endpoint_auth_method": "client_secret_basic", "redirect_uris": [],
]

/// A realm of tenants, one of them, and one account.
func givenTenant(_ settings: JSONObject = [:]) throws -> Scenario {
    givenRealm().given(
        RealmEvent.settingsChanged((["profile": "verify"] as JSONObject).merging(settings) { $1 }),
        in: Realm.stream
    ).given(
        try registered(tenantMetadata, secret: try digest(9)), in: client
    ).given(registeredAccount(), in: account)
}

@Suite struct `Ways to sign in within a tenant's apps` {
    private func signedIn(_ at: Timestamp = noon) -> SignedIn {
        SignedIn(client: client, app: nil, at: at)
    }

    private func enroll(_ key: DeviceKey = deviceKey(), signedIn at: Timestamp = noon)
        -> EnrollDeviceKey
    {
        EnrollDeviceKey(owner: methodOwner, key: key, session: signedIn(at), mail: mail, now: noon)
    }

    private func set(_ current: PINComparison? = nil, signedIn at: Timestamp = noon) -> SetPIN {
        SetPIN(
            owner: methodOwner, hash: "scrypt$2", current: current, session: signedIn(at),
            mail: mail, now: noon)
    }

    @Test func `a device's key is enrolled once for each method`() async throws {
        let tenant = try givenTenant()
        try await tenant.when(enroll()).then(enrolled(deviceKey()), in: methodsStream)
        let one = tenant.given(enrolled(deviceKey()), in: methodsStream)
        try await one.when(enroll()).thenRejected(.keyTaken)
        let other = deviceKey(1, .biometric)
        try await one.when(enroll(other)).then(enrolled(other), in: methodsStream)
        var full = tenant
        for byte in 1...UInt8(TenantMethods.mostKeys) {
            full = full.given(enrolled(deviceKey(byte)), in: methodsStream)
        }
        try await full.when(enroll(deviceKey(99))).thenRejected(.tooMany)
    }

    @Test func `enrolling a key or a PIN needs a recent sign-in, an account and a tenant`()
        async throws
    {
        let tenant = try givenTenant(["recent_sign_in": 60])
        let old = noon.adding(seconds: -60)
        try await tenant.when(enroll(signedIn: old)).thenRejected(.signInTooOld(limit: 60))
        try await tenant.when(set(signedIn: old)).thenRejected(.signInTooOld(limit: 60))
        for (event, stream) in [
            (AccountEvent.disabled() as any Event, account), (ClientEvent.disabled, client),
            (ClientEvent.deleted, client), (AccountEvent.deleted(subjects: []), account),
        ] {
            let closed = tenant.given(event, in: stream)
            try await closed.when(enroll()).thenRejected(.notWelcome)
            try await closed.when(set()).thenRejected(.notWelcome)
        }
        try await given().when(enroll()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(set()).thenRejected(.realmDisabled)
    }

    @Test func `a key or a PIN is removed by its owner who signed in lately, or by the server`()
        async throws
    {
        let tenant = try givenTenant(["recent_sign_in": 60])
            .given(enrolled(deviceKey()), pin(), in: methodsStream)
        func remove(_ key: UUID?, _ session: SignedIn? = nil) -> RemoveTenantMethod {
            RemoveTenantMethod(owner: methodOwner, key: key, session: session, now: noon)
        }
        let gone = TenantMethodEvent.keyRemoved(
            deviceKey().id, account: account, client: client)
        try await tenant.when(remove(deviceKey().id, signedIn())).then(gone, in: methodsStream)
        try await tenant.when(remove(deviceKey().id)).then(gone, in: methodsStream)
        try await tenant.when(remove(nil)).then(
            TenantMethodEvent.pinRemoved(account: account, client: client), in: methodsStream)
        try await tenant.when(remove(session)).thenRejected(.notEnrolled)
        try await tenant.given(gone, in: methodsStream).when(remove(deviceKey().id))
            .thenRejected(.notEnrolled)
        try await tenant.when(remove(nil, signedIn(noon.adding(seconds: -60)))).thenRejected(
            .signInTooOld(limit: 60))
        try await tenant.given(AccountEvent.disabled(), in: account).when(remove(nil))
            .thenRejected(.notWelcome)
    }

    @Test func `another PIN needs the one before, and five wrong ones lock it`() async throws {
        let tenant = try givenTenant()
        let other = pin("scrypt$2")
        try await tenant.when(set()).then(other, in: methodsStream)
        let one = tenant.given(pin(), in: methodsStream)
        try await one.when(set()).thenRejected(.pinNeeded)
        try await one.when(set(.right(hash: "scrypt$1"))).then(other, in: methodsStream)
        try await one.when(set(.wrong(hash: "scrypt$1"))).then(wrongPIN, in: methodsStream)
        // Compared with another one than there is now.
        try await one.when(set(.right(hash: "scrypt$0"))).thenRejected(.wrongPIN)
        try await one.when(set(.nothing)).thenRejected(.wrongPIN)
        var locked = one
        for _ in 0..<TenantMethods.guesses { locked = locked.given(wrongPIN, in: methodsStream) }
        try await locked.when(set(.right(hash: "scrypt$1"))).thenRejected(.pinLocked)
    }
}

@Suite struct `Approvals on a trusted device` {
    private let key = deviceKey()

    private func given() throws -> Scenario {
        try givenTenant().given(enrolled(key), in: methodsStream)
    }

    private func waiting() throws -> Scenario {
        try given().given(ApprovalEvent.requested(approvalTerms()), in: approvalStream)
            .given(awaited, in: methodsStream)
    }

    private func request(owner: MethodOwner? = methodOwner, after seconds: Int64 = 0)
        -> RequestApproval
    {
        RequestApproval(
            approval: approvalStream, terms: approvalTerms(), owner: owner,
            now: noon.adding(seconds: seconds))
    }

    private func answer(
        _ isApproved: Bool = true, key: UUID? = nil, after seconds: Int64 = 0
    ) -> AnswerApproval {
        AnswerApproval(
            approval: approvalStream, owner: methodOwner, key: key ?? self.key.id,
            signature: signatureStream, isApproved: isApproved, now: noon.adding(seconds: seconds))
    }

    private func answered(_ isApproved: Bool = true) -> ApprovalEvent {
        .answered(
            isApproved: isApproved, key: key.id, account: account, client: client, at: noon)
    }

    private let used = ApprovalEvent.signatureUsed(
        approval: approvalStream, account: account, client: client)

    @Test func `a request is written for people whom there are not too, who cannot answer`()
        async throws
    {
        var asked = Decision(ApprovalEvent.requested(approvalTerms()), in: approvalStream)
        asked.append(awaited, in: methodsStream)
        try await given().when(request()).then(asked)
        try await given().when(request(owner: nil)).then(
            ApprovalEvent.requested(approvalTerms(of: nil)), in: approvalStream)
        try await given().given(AccountEvent.disabled(), in: account).when(request()).then(
            ApprovalEvent.requested(approvalTerms(of: nil)), in: approvalStream)
        try await given().when(request(after: 181)).thenRejected(.stale)
        try await waiting().when(request()).thenRejected(.numberTaken)
    }

    @Test func `requests from other networks end none, and no more than eight wait`() async throws {
        func asked(_ number: Int, after seconds: Int64 = 0) -> TenantMethodEvent {
            .approvalAwaited(
                AwaitedApproval(
                    approval: UUID(high: 90, low: UInt64(number)), number: Int64(number),
                    expiresAt: noon.adding(seconds: seconds + Approval.patience),
                    network: [UInt8(number)]), account: account, client: client)
        }
        var world = try waiting()
        for number in 1...7 { world = world.given(asked(number), in: methodsStream) }
        var decision = Decision(answered(), in: approvalStream)
        decision.append(used, in: signatureStream)
        try await world.when(answer()).then(decision)
        var command = request()
        command.approval = UUID(high: 91, low: 1)
        command.network = [8]
        // It is answered like one for somebody whom there is not.
        try await world.when(command).then(
            ApprovalEvent.requested(approvalTerms(of: nil)), in: command.approval)
        // One more of the same network takes the place of its own.
        command.network = [7]
        #expect(try await world.when(command).result.get().events.count == 2)
    }

    @Test func `a request is answered once, within three minutes, by a trusted device`()
        async throws
    {
        for isApproved in [true, false] {
            var decision = Decision(answered(isApproved), in: approvalStream)
            decision.append(used, in: signatureStream)
            try await waiting().when(answer(isApproved)).then(decision)
            try await waiting().given(answered(isApproved), in: approvalStream).when(answer())
                .thenRejected(.answered)
        }
        try await given().when(answer()).thenRejected(.notFound)
        try await waiting().when(answer(after: 180)).thenRejected(.notFound)
        try await waiting().when(answer(key: session)).thenRejected(.notTrusted)
        let finger = deviceKey(2, .biometric)
        try await waiting().given(enrolled(finger), in: methodsStream).when(
            answer(key: finger.id)
        ).thenRejected(.notTrusted)
        var foreign = answer()
        foreign.owner.account = app
        try await waiting().when(foreign).thenRejected(.notFound)
    }

    @Test func `a signature that was used in one way is refused in every way`() async throws {
        let given = ApprovalEvent.given(approvalTerms(), key: key.id)
        for before in [used, given] {
            try await waiting().given(before, in: signatureStream).when(answer())
                .thenRejected(.signatureUsed)
            var proof = proof()
            proof.approval = signatureStream
            try await waiting().given(before, in: signatureStream).when(give(proof))
                .thenRejected(.methodRefused("used"))
        }
    }

    @Test func `a newer request ends the one before`() async throws {
        let newer = TenantMethodEvent.approvalAwaited(
            AwaitedApproval(approval: session, number: 1, expiresAt: noon.adding(seconds: 180)),
            account: account, client: client)
        try await waiting().given(newer, in: methodsStream).when(answer()).thenRejected(
            .notFound)
    }

    private func proof(
        _ shown: DeviceProof.Shown? = nil, _ terms: ApprovalTerms = approvalTerms(),
        newKey: DeviceKey? = nil
    ) -> DeviceProof {
        DeviceProof(
            approval: approvalStream, owner: methodOwner, terms: terms,
            shown: shown ?? .signature(key: key.id), newKey: newKey, mail: mail)
    }

    private func give(
        _ proof: DeviceProof, after seconds: Int64 = 0
    ) -> GiveApproval { GiveApproval(proof, now: noon.adding(seconds: seconds)) }

    @Test func `a signature of an enrolled key is put on record once, and only while it is new`()
        async throws
    {
        let given = ApprovalEvent.given(approvalTerms(), key: key.id)
        try await self.given().when(give(proof())).then(given, in: approvalStream)
        try await self.given().given(given, in: approvalStream).when(give(proof()))
            .thenRejected(.methodRefused("used"))
        for seconds: Int64 in [181, -181] {
            try await self.given().when(give(proof(), after: seconds)).thenRejected(
                .methodRefused("stale"))
        }
        try await self.given().when(give(proof(.signature(key: session)))).thenRejected(
            .methodRefused("unknown_key"))
        try await self.given().when(give(proof(nil, approvalTerms("LOGIN", .biometric))))
            .thenRejected(.methodRefused("unknown_key"))
        try await self.given().when(give(proof(.refused(reason: "wrong_signature"))))
            .thenRejected(.methodRefused("wrong_signature"))
        try await self.given().given(AccountEvent.disabled(), in: account).when(give(proof()))
            .thenRejected(.accountBlocked)
    }

    @Test func `a trusted device lets another one in, and the record says which it was`()
        async throws
    {
        let new = deviceKey(7)
        var decision = Decision(
            enrolled(deviceKey(7, approvedBy: key.id)), in: methodsStream)
        decision.append(
            ApprovalEvent.given(approvalTerms(), key: key.id), in: approvalStream)
        try await given().when(give(proof(newKey: new))).then(decision)
        try await given().when(give(proof(newKey: key))).thenRejected(
            .methodRefused("key_taken"))
        let finger = deviceKey(2, .biometric)
        try await given().given(enrolled(finger), in: methodsStream).when(
            give(
                proof(
                    .signature(key: finger.id), approvalTerms("LOGIN", .biometric), newKey: new))
        ).thenRejected(.methodRefused("not_trusted"))
        try await given().given(pin(), in: methodsStream).when(
            give(
                proof(.pin(.right(hash: "scrypt$1")), approvalTerms("LOGIN", .pin), newKey: new))
        ).thenRejected(.methodRefused("not_trusted"))
    }

    @Test func `a wrong PIN is put on record, and the right one is refused after five`()
        async throws
    {
        let terms = approvalTerms("LOGIN", .pin)
        let right = give(proof(.pin(.right(hash: "scrypt$1")), terms))
        let wrong = give(proof(.pin(.wrong(hash: "scrypt$1")), terms))
        var given = try given().given(pin(), in: methodsStream)
        try await given.when(right).then(
            ApprovalEvent.given(terms, key: nil), in: approvalStream)
        for _ in 0..<TenantMethods.guesses {
            try await given.when(wrong).then(wrongPIN, in: methodsStream)
            given = given.given(wrongPIN, in: methodsStream)
        }
        try await given.when(right).thenRejected(.methodRefused("pin_locked"))
        try await given.when(wrong).thenRejected(.methodRefused("pin_locked"))
        try await given.given(pin(), in: methodsStream).when(right).then(
            ApprovalEvent.given(terms, key: nil), in: approvalStream)
    }
}
