import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

/// Samples of sign-ins whose method is no grant and no way of the pages as they were.
func signInMethodSamples() -> [any Event] {
    var app = RefusedSignIn(
        method: .authorizationCode, reason: "wrong_pin", account: account, client: client,
        clientID: "web", app: nil, from: SignInPlace())
    app.appMethod = .pin
    let phone = RefusedBrowser(
        method: .code, reason: "invalid_code", account: account, app: nil,
        from: SignInPlace(channel: .sms))
    var saml = app
    (saml.method, saml.appMethod) = (.jwtBearer, .saml)
    return [
        SessionEvent.refused(app), SessionEvent.refused(saml), BrowserSessionEvent.refused(phone),
    ]
}

@Suite struct `By what people sign in, on record` {
    private func recorded(_ shown: DeviceProof.Shown, _ method: TenantMethod) async throws
        -> NewEvent?
    {
        let proof = DeviceProof(
            approval: approvalStream, owner: methodOwner, terms: approvalTerms("LOGIN", method),
            shown: shown, mail: mail)
        let request = GrantRequest(
            client: client, clientID: "web", proof: .none, session: session, now: noon)
        return try await givenTenant().given(enrolled(deviceKey()), pin(), in: methodsStream)
            .when(RedeemGrant(TenantSignIn(proof), request)).result.get().events.last
    }

    @Test func `sign-ins by PIN and by a device's signature are told apart, refused ones too`()
        async throws
    {
        let key = deviceKey().id
        for (shown, method, name, wanted) in [
            (
                DeviceProof.Shown.pin(.right(hash: "scrypt$1")), TenantMethod.pin,
                "session.opened", "app_pin"
            ),
            (.pin(.wrong(hash: "scrypt$1")), .pin, "session.refused", "app_pin"),
            (.signature(key: key), .trustedDevice, "session.opened", "app_key"),
            (
                .refused(reason: "wrong_signature"), .biometric, "session.refused",
                "app_key"
            ),
        ] {
            let event = try #require(try await recorded(shown, method))
            #expect(event.name == name)
            #expect(event.open["method"]?.string == wanted)
        }
    }

    @Test func `what stands on record of a way is read as the grant that it was`() {
        for way in AppSignInMethod.allCases {
            guard
                let event = signInMethodSamples().first as? SessionEvent,
                case .refused(var refused) = event
            else {
                Issue.record("There is no sample")
                return
            }
            refused.method = way == .saml ? .jwtBearer : .authorizationCode
            refused.appMethod = way
            let fields = SessionEvent.refused(refused).fields
            #expect(fields["method"]?.string == way.rawValue)
            #expect(
                SessionEvent(name: "session.refused", fields: fields) == .refused(refused), "\(way)"
            )
        }
        #expect(Set(PolicyReader.methods).count == PolicyReader.methods.count)
    }

    @Test func `what was recorded before methods were told apart is read as it was meant`() {
        var fields = NewEvent(
            BrowserSessionEvent.refused(
                RefusedBrowser(
                    method: .code, reason: "invalid_code", account: account, app: nil,
                    from: SignInPlace(channel: .sms))), in: session
        ).open
        #expect(fields["method"]?.string == "phone_code")
        for method in ["phone_code", "email_code"] {
            fields["method"] = .string(method)
            guard
                case .refused(let read)? = BrowserSessionEvent(
                    name: "browser.refused", fields: fields)
            else {
                Issue.record("\(method) is not read")
                continue
            }
            #expect(read.method == .code && read.from.channel == .sms)
        }
    }
}
