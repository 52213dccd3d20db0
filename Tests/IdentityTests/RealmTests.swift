import EventSourcing
import Identity
import JSON
import LogTesting
import Testing

@Suite struct `Creating a realm` {
    @Test func `creating a realm enables it`() async throws {
        try await given().when(RealmChange.create(displayName: "Acme"))
            .then(RealmEvent.created(displayName: "Acme"), in: Realm.stream)
    }

    @Test func `creating a realm that exists is refused`() async throws {
        try await givenRealm().when(RealmChange.create(displayName: "Acme")).thenRejected(
            .alreadyExists)
    }

    @Test(
        arguments: [
            ("", .malformed), (" \u{a0}", .malformed), ("a\nb", .malformed),
            ("a\u{202E}b", .malformed),
            (String(repeating: "é", count: 201), .tooLong(limit: 200)),
        ] as [(String, FieldFault.Reason)])
    func `creating a realm is refused with an invalid name`(name: String, reason: FieldFault.Reason)
        async throws
    {
        try await given().when(RealmChange.create(displayName: name))
            .thenRejected(.invalid(FieldFault("display_name", reason)))
    }
}

@Suite struct `Disabling and enabling a realm` {
    @Test func `disabling a realm closes it, and enabling opens it`() async throws {
        try await givenRealm().when(RealmChange.disable()).then(
            RealmEvent.disabled, in: Realm.stream)
        try await givenDisabledRealm().when(RealmChange.enable())
            .then(RealmEvent.enabled, in: Realm.stream)
        try await givenDisabledRealm().given(RealmEvent.enabled, in: Realm.stream)
            .when(RealmChange.disable()).then(RealmEvent.disabled, in: Realm.stream)
    }

    @Test func `disabling or enabling a realm twice appends nothing`() async throws {
        try await givenDisabledRealm().when(RealmChange.disable()).thenNothing()
        try await givenRealm().when(RealmChange.enable()).thenNothing()
    }

    @Test func `disabling and enabling a realm needs a realm`() async throws {
        try await given().when(RealmChange.disable()).thenRejected(.notFound)
        try await given().when(RealmChange.enable()).thenRejected(.notFound)
    }
}

@Suite struct `Setting a realm's settings` {
    @Test func `setting a realm's settings changes only what differs`() async throws {
        let changed = RealmEvent.settingsChanged(["native_grants": true, "otp_attempts": 5])
        try await givenRealm().when(
            RealmChange.setSettings([
                "native_grants": true, "otp_attempts": 5, "display_name": "Acme",
                "mail_from": .null,
            ])
        ).then(changed, in: Realm.stream)
        try await givenRealm().given(changed, in: Realm.stream)
            .when(RealmChange.setSettings(["native_grants": .null, "otp_attempts": 5]))
            .then(RealmEvent.settingsChanged(["native_grants": .null]), in: Realm.stream)
    }

    @Test func `setting a realm's settings without a difference appends nothing`() async throws {
        try await givenRealm().when(RealmChange.setSettings([:])).thenNothing()
        try await givenRealm().when(RealmChange.setSettings(["display_name": "Acme"])).thenNothing()
    }

    @Test func `setting a realm's settings needs an enabled realm`() async throws {
        try await given().when(RealmChange.setSettings(["native_grants": true])).thenRejected(
            .notFound)
        try await givenDisabledRealm().when(RealmChange.setSettings(["native_grants": true]))
            .thenRejected(.disabled)
    }

    @Test(
        arguments: [
            ("no_such_setting", 1, .unknown),
            ("display_name", .null, .missing),
            ("display_name", "", .malformed),
            ("native_grants", "yes", .wrongType(expected: .flag)),
            ("otp_attempts", "3", .wrongType(expected: .number)),
            ("otp_attempts", 0, .outOfRange(lowest: 1, highest: 10)),
            ("otp_attempts", 11, .outOfRange(lowest: 1, highest: 10)),
            ("access_token_lifetime", 59, .outOfRange(lowest: 60, highest: 604_800)),
            ("native_access_token_lifetime", 3_601, .outOfRange(lowest: 60, highest: 3_600)),
            ("registration", "open", .unsupported),
            ("rate_limits", [], .wrongType(expected: .object)),
            ("rate_limits", ["oauth-token": 5], .wrongType(expected: .object)),
            ("rate_limits", ["oauth-token": ["client": 5]], .wrongType(expected: .object)),
            ("rate_limits", ["oauth-token": ["client": ["amount": 5]]], .missing),
            ("rate_limits", ["oauth-token": ["client": ["seconds": 5]]], .missing),
            (
                "rate_limits", ["oauth-token": ["client": ["amount": 5, "seconds": "5"]]],
                .wrongType(expected: .number)
            ),
            (
                "rate_limits", ["oauth-token": ["client": ["amount": -1, "seconds": 5]]],
                .outOfRange(lowest: 0, highest: 1_000_000)
            ),
            (
                "rate_limits", ["oauth-token": ["client": ["amount": 1, "seconds": 0]]],
                .outOfRange(lowest: 1, highest: 2_678_400)
            ),
            (
                "rate_limits",
                ["oauth-token": ["client": ["amount": 1, "seconds": 1, "burst": 0]]],
                .outOfRange(lowest: 1, highest: 1_000_000)
            ),
            (
                "rate_limits", ["oauth-token": ["client": ["amount": 1, "seconds": 1, "x": 1]]],
                .unsupported
            ),
            (
                "rate_limits",
                .object(JSONObject((0...50).map { ("p\($0)", [:]) })),
                .tooMany(limit: 50)
            ),
            ("registration", 1, .wrongType(expected: .text)),
            ("mail_from", "nobody", .malformed),
            ("mail_from", "a@b@example.org", .malformed),
            ("mail_from", "a b@example.org", .malformed),
            ("mail_from", "a\r\nBcc: b@example.org", .malformed),
            ("mail_from", "@example.org", .malformed),
            ("mail_from", "a@example.org:25", .malformed),
            ("links_base_url", "http://example.org", .unsafeScheme),
            ("links_base_url", "https://example.org/#a", .hasFragment),
            ("links_base_url", "https://a@example.org/", .hasUserInfo),
            ("links_base_url", "https://example.org/?a=b", .malformed),
            ("primary_domain", "Example.org", .malformed),
            ("primary_domain", "*.example.org", .malformed),
        ] as [(String, JSON, FieldFault.Reason)])
    func `setting a realm's settings names the field at fault`(
        name: String, value: JSON, reason: FieldFault.Reason
    ) async throws {
        try await givenRealm().when(
            RealmChange.setSettings([name: value, "mail_from_name": "Acme"])
        )
        .thenRejected(.invalid(FieldFault(name, reason)))
    }

    @Test(
        arguments: [
            ("mail_from", "no-reply+a@mail.example.org"), ("links_base_url", "https://example.org"),
            ("links_base_url", "http://localhost:8080/a"), ("primary_domain", "localhost:8080"),
            ("registration", "jit_on_otp"), ("refresh_token_leeway", 0),
            (
                "rate_limits",
                ["oauth-token": ["client": .null, "source": ["amount": 0, "seconds": 1]]]
            ),
        ] as [(String, JSON)])
    func `setting a realm's settings takes valid values`(name: String, value: JSON) async throws {
        try await givenRealm().when(RealmChange.setSettings([name: value]))
            .then(RealmEvent.settingsChanged([name: value]), in: Realm.stream)
    }
}

@Suite struct `Erasing a subject` {
    @Test func `erasing a subject is recorded in the realm`() async throws {
        try await givenRealm().when(EraseSubject(subject: client))
            .then(RealmEvent.subjectErased(client), in: Realm.stream)
    }

    @Test func `erasing a subject is recorded once`() async throws {
        try await givenRealm().given(RealmEvent.subjectErased(client), in: Realm.stream)
            .when(EraseSubject(subject: client)).thenNothing()
        try await givenRealm().given(RealmEvent.subjectErased(client), in: Realm.stream)
            .when(EraseSubject(subject: app))
            .then(RealmEvent.subjectErased(app), in: Realm.stream)
        // An account's own stream says so.
        try await givenRealm().given(AccountEvent.erased, in: client)
            .when(EraseSubject(subject: client)).thenNothing()
    }

    @Test func `erasing a subject needs a realm`() async throws {
        try await given().when(EraseSubject(subject: client)).thenRejected(.notFound)
    }
}

@Suite struct `Accepting a loss of the log` {
    private let loss = AcceptedLoss(size: 97, epoch: 2, sealed: 46, head: 51)

    @Test func `accepting a loss of the log is recorded once with the positions given up`()
        async throws
    {
        try await givenRealm().when(RealmChange.acceptLoss(loss))
            .then(LogEvent.lossAccepted(loss), in: AcceptedLoss.stream)
        try await givenRealm().given(LogEvent.lossAccepted(loss), in: AcceptedLoss.stream)
            .when(RealmChange.acceptLoss(loss)).thenNothing()
        let next = AcceptedLoss(size: 120, epoch: 3, sealed: 80, head: 80)
        try await givenRealm().given(LogEvent.lossAccepted(loss), in: AcceptedLoss.stream)
            .when(RealmChange.acceptLoss(next)).then(
                LogEvent.lossAccepted(next), in: AcceptedLoss.stream)
    }
}
