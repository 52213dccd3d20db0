import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import OneTimeCodes
import QRCode
import Testing
import Values

@testable import API

/// An authenticator app, as anybody would write one.
struct Authenticator {
    let secret: String

    func code(at clock: Clock) throws -> String {
        let bytes = try #require(Base32.decode(secret))
        let totp = try #require(TOTP(secret: SecretBytes(bytes)))
        return try totp.code(atStep: TOTP.step(atSecond: clock.next().seconds))
    }
}

extension Answered {
    var recoveryCodes: [String] { json["RecoveryCodes"]?.array?.compactMap(\.string) ?? [] }
}

extension SignInWorld {
    func call(
        _ method: HTTP.Method, _ path: String, as token: String?, json members: JSON? = nil
    ) async throws -> Answered {
        var headers: Headers = ["Host": "id.acme.example"]
        if let token { headers["Authorization"] = "Bearer \(token)" }
        if members != nil { headers["Content-Type"] = "application/json" }
        return try await send(
            Request(
                method: method, path: path, query: nil, headers: headers,
                body: members?.canonical() ?? [], source: "203.0.113.7", id: "request-4"))
    }

    /// Ann's access token.
    func token() async throws -> String {
        let tokens = try await join()
        return try #require(tokens["access_token"]?.string)
    }

    /// Ann's app, and her recovery codes. A moment later its next code is good.
    func enroll(_ token: String) async throws -> (app: Authenticator, recovery: [String]) {
        let begun = try await call(.post, "/connect/totp/enroll/begin", as: token)
        let app = Authenticator(secret: try #require(begun.json["Secret"]?.string))
        let done = try await call(
            .post, "/connect/totp/enroll", as: token,
            json: ["Code": .string(try app.code(at: clock))])
        #expect(done.status == .ok)
        clock.advance(seconds: 90)
        let codes = done.recoveryCodes
        return (app, codes)
    }

    func mailCode() async throws -> String {
        clock.advance(seconds: 900)
        _ = try await requestCode(["Email": "ann@example.org"])
        return try await mailedCode()
    }

    func redeem(code: String, totp: String?) async throws -> Answered {
        try await post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"),
                ("username", "ann@example.org"), ("otp_code", code), ("scope", "openid"),
            ] + (totp.map { [("totp_code", $0)] } ?? []))
    }
}

private let required = "Two-factor authentication is required; supply totp_code."
private let invalid = "The two-factor code is invalid."

@Suite struct `An authenticator app` {
    @Test func `an authenticator app is enrolled by its first code and shown until then`()
        async throws
    {
        let world = try await SignInWorld()
        let token = try await world.token()
        #expect(
            try await world.call(.get, "/connect/totp", as: token).json
                == ["Enabled": false, "RecoveryCodesLeft": 0])
        let begun = try await world.call(.post, "/connect/totp/enroll/begin", as: token)
        #expect(begun.status == .ok)
        let app = Authenticator(secret: try #require(begun.json["Secret"]?.string))
        let uri = try #require(begun.json["OtpAuthUri"]?.string)
        #expect(uri.hasPrefix("otpauth://totp/Acme:ann%40example.org?secret=\(app.secret)&"))
        #expect(begun.json["QrSvg"]?.string == (try QRCode(uri).svg))
        let svg = try await world.call(.get, "/connect/totp/enroll/qr.svg", as: token)
        #expect(svg.response.headers["Content-Type"] == "image/svg+xml")
        #expect(svg.response.body == Array(try QRCode(uri).svg.utf8))
        let png = try await world.call(.get, "/connect/totp/enroll/qr.png", as: token)
        #expect(png.response.headers["Content-Type"] == "image/png")
        #expect(png.response.body == (try QRCode(uri).png()))
        let code = try app.code(at: world.clock)
        let wrong = try await world.call(
            .post, "/connect/totp/enroll", as: token,
            json: ["code": .string(code == "000000" ? "000001" : "000000")])
        #expect(wrong.status == .badRequest && wrong.json == ["Message": .string(invalid)])
        let done = try await world.call(
            .post, "/connect/totp/enroll", as: token, json: ["Code": .string(code)])
        #expect(Set(done.json["RecoveryCodes"]?.array ?? []).count == 10)
        let status = try await world.call(.get, "/connect/totp", as: token).json
        #expect(status["Enabled"] == true && status["RecoveryCodesLeft"] == 10)
        for (method, path) in [
            (HTTP.Method.get, "/connect/totp/enroll/qr.svg"),
            (.get, "/connect/totp/enroll/qr.png"), (.post, "/connect/totp/enroll/begin"),
        ] {
            #expect(try await world.call(method, path, as: token).status == .badRequest)
        }
    }

    @Test func `an authenticator app's routes need a token`() async throws {
        let world = try await SignInWorld()
        for route in TOTPRoutes.table {
            for token in [nil, "", "urd_at_AAAA"] {
                let answer = try await world.call(
                    route.method, route.path.description, as: token, json: ["Code": "123456"])
                #expect(answer.status == .unauthorized, "\(route.id)")
            }
        }
    }

    @Test func `an authenticator app is not added or removed by a token of an old sign-in`()
        async throws
    {
        let world = try await SignInWorld(["registration": "jit_on_otp", "recent_sign_in": 600])
        let token = try await world.token()
        let (app, _) = try await world.enroll(token)
        world.clock.advance(seconds: 600)
        for route in TOTPRoutes.table where route.id != "getTOTP" {
            let answer = try await world.call(
                route.method, route.path.description, as: token,
                json: ["Code": .string(try app.code(at: world.clock))])
            #expect(answer.status == .unauthorized, "\(route.id)")
            #expect(answer.json["title"] == "Account.ReauthenticationRequired")
        }
        #expect(try await world.call(.get, "/connect/totp", as: token).json["Enabled"] == true)
    }

    @Test func `an authenticator app is removed only with a code of it`() async throws {
        let world = try await SignInWorld()
        let token = try await world.token()
        let gone = try await world.call(
            .delete, "/connect/totp", as: token, json: ["Code": "123456"])
        #expect(gone.status == .notFound)
        let (app, _) = try await world.enroll(token)
        for code in ["", "12345", "nothing like it", "0000-0000-0000"] {
            let answer = try await world.call(
                .delete, "/connect/totp", as: token, json: ["Code": .string(code)])
            #expect(answer.status == .badRequest && answer.json == ["Message": .string(invalid)])
        }
        let none = try await world.call(.delete, "/connect/totp", as: token, json: [:])
        #expect(none.status == .badRequest)
        let removed = try await world.call(
            .delete, "/connect/totp", as: token,
            json: ["Code": .string(try app.code(at: world.clock))])
        #expect(removed.status == .noContent)
        #expect(try await world.call(.get, "/connect/totp", as: token).json["Enabled"] == false)
        let code = try await world.mailCode()
        #expect(try await world.redeem(code: code, totp: nil).status == .ok)
    }

    @Test func `an authenticator app's new recovery codes void the old ones`() async throws {
        let world = try await SignInWorld()
        let token = try await world.token()
        let (app, old) = try await world.enroll(token)
        let refused = try await world.call(
            .post, "/connect/totp/recovery-codes", as: token, json: ["Code": "0000-0000-0000"])
        #expect(refused.status == .badRequest)
        let renewed = try await world.call(
            .post, "/connect/totp/recovery-codes", as: token,
            json: ["Code": .string(try app.code(at: world.clock))])
        let new = renewed.recoveryCodes
        #expect(new.count == 10)
        #expect(Set(new).isDisjoint(with: old))
        let code = try await world.mailCode()
        let answer = try await world.redeem(code: code, totp: old[0])
        #expect(answer.json["error_description"]?.string == invalid)
        #expect(try await world.redeem(code: code, totp: new[0]).status == .ok)
    }

    @Test func `an authenticator app's wrong codes are recorded like those of a sign-in`()
        async throws
    {
        let world = try await SignInWorld()
        let token = try await world.token()
        _ = try await world.enroll(token)
        for (method, path) in [
            (HTTP.Method.delete, "/connect/totp"), (.post, "/connect/totp/recovery-codes"),
        ] {
            let answer = try await world.call(
                method, path, as: token, json: ["Code": "0000-0000-0000"])
            #expect(answer.status == .badRequest)
            let last = try #require(
                try await world.log.events(from: 1, limit: .max, in: world.realm).last)
            #expect(last.name == "session.refused")
            #expect(last.open["method"] == "urn:cocoar:otp" && last.open["client_id"] == "phone")
            #expect(last.open["reason"] == "invalid_second_factor")
        }
    }

    @Test func `an authenticator app's secret and codes are stored readable nowhere`() async throws
    {
        let world = try await SignInWorld()
        let (app, recovery) = try await world.enroll(try await world.token())
        let bytes = try #require(Base32.decode(app.secret))
        let events = try await world.log.events(from: 1, limit: .max, in: world.realm)
        let open = events.map { String(decoding: JSON.object($0.open).canonical(), as: UTF8.self) }
            .joined()
        for secret in [app.secret, Base64URL.encode(bytes)] + recovery {
            #expect(!open.contains(secret))
        }
    }
}

@Suite struct `MOD-07: A second factor after the first` {
    @Test func `a second factor is asked for in the documented words`() async throws {
        let world = try await SignInWorld()
        let (app, _) = try await world.enroll(try await world.token())
        let code = try await world.mailCode()
        let missing = try await world.redeem(code: code, totp: nil)
        #expect(missing.status == .badRequest && missing.json["error"] == "invalid_grant")
        #expect(missing.json["error_description"]?.string == required)
        #expect(
            try await world.redeem(code: code, totp: " - ").json["error_description"]?.string
                == required)
        let digits = try app.code(at: world.clock)
        let spaced = " \(digits.prefix(3)) - \(digits.suffix(3)) "
        let done = try await world.redeem(code: code, totp: spaced)
        #expect(done.status == .ok, "The mailed code was not used up.")
        #expect(try await world.methods() == ["otp", "mfa"])
    }

    @Test func `a wrong second factor counts as a guess at both factors`() async throws {
        let world = try await SignInWorld()
        let (app, _) = try await world.enroll(try await world.token())
        let code = try await world.mailCode()
        for _ in 0..<3 {
            let wrong = try await world.redeem(code: code, totp: "0000-0000-0000")
            #expect(wrong.status == .badRequest)
            #expect(wrong.json["error_description"]?.string == invalid)
        }
        let late = try await world.redeem(code: code, totp: try app.code(at: world.clock))
        #expect(late.json["error_description"]?.string == "Invalid or expired code.")
        let events = try await world.events()
        #expect(events.filter { $0 == "totp.refused" }.count == 3)
        #expect(events.filter { $0 == "otp.refused" }.count == 3)
    }

    @Test func `a second factor is demanded after a mailed link, which is used up`() async throws {
        let world = try await SignInWorld()
        let (app, recovery) = try await world.enroll(try await world.token())
        _ = try await world.requestLink(["Email": "ann@example.org"])
        let link = try await world.mailedLink()
        let owed = try await world.redeem(link: link)
        #expect(owed.json["error_description"]?.string == required)
        let code = try app.code(at: world.clock)
        let late = try await world.redeem(link: link, more: [("totp_code", code)])
        #expect(late.json["error_description"]?.string == "Invalid or expired link.")
        _ = try await world.requestLink(["Email": "ann@example.org"])
        let next = try await world.mailedLink()
        let done = try await world.redeem(link: next, more: [("totp_code", recovery[3])])
        #expect(done.status == .ok)
        let token = try #require(done.json["access_token"]?.string)
        #expect(try await world.methods() == ["mail", "otp", "mfa"])
        #expect(
            try await world.call(.get, "/connect/totp", as: token).json["RecoveryCodesLeft"] == 9)
    }

    @Test func `a second factor's code is accepted once`() async throws {
        let world = try await SignInWorld()
        let (app, recovery) = try await world.enroll(try await world.token())
        let first = try await world.mailCode()
        let code = try app.code(at: world.clock)
        #expect(try await world.redeem(code: first, totp: code).status == .ok)
        _ = try await world.requestLink(["Email": "ann@example.org"])
        let again = try await world.redeem(
            link: try await world.mailedLink(), more: [("totp_code", code)])
        #expect(again.json["error_description"]?.string == invalid)
        for (expected, index) in [(Status.ok, 0), (.badRequest, 0), (.ok, 1)] {
            _ = try await world.requestLink(["Email": "ann@example.org"])
            let answer = try await world.redeem(
                link: try await world.mailedLink(), more: [("totp_code", recovery[index])])
            #expect(answer.status == expected)
        }
    }

    @Test func `a second factor's code used fifty times at once is accepted once`() async throws {
        let world = try await SignInWorld()
        let token = try await world.token()
        _ = try await world.enroll(token)
        let account = try #require(
            try await world.introspect(token)["sub"]?.string.flatMap { UUID($0) })
        let digest = try #require(SecretDigest([UInt8](repeating: 1, count: 32)))
        let now = world.clock.next()
        let dispatcher = Dispatcher(log: world.log)
        let wins = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<50 {
                group.addTask {
                    let digests = index % 2 == 0 ? nil : digest
                    let command = RenewRecoveryCodes(
                        account: account,
                        typed: TypedFactor(
                            step: { _ in 1 << 40 }, recoveryDigest: { _ in digests }),
                        recoveryCodes: [], now: now)
                    do {
                        let answer = try await dispatcher.ask(
                            command, in: world.realm, id: UUID.random(),
                            origin: Origin(actor: "system", at: now))
                        guard case .success? = answer.outcome else { return false }
                        return true
                    } catch TwoFactorRejection.wrongCode {
                        return false
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wins == 1)
    }

    @Test func `a second factor's code is used for one purpose, also at once`() async throws {
        let world = try await SignInWorld()
        let token = try await world.token()
        let (app, _) = try await world.enroll(token)
        let code = try app.code(at: world.clock)
        let answers = try await withThrowingTaskGroup(of: Status.self) { group in
            for index in 0..<15 {
                // Each by another way: only the second factor is what they have in common.
                group.addTask {
                    let path = index == 0 ? "/connect/totp" : "/connect/totp/recovery-codes"
                    return try await world.call(
                        index == 0 ? .delete : .post, path, as: token,
                        json: ["Code": .string(code)]
                    ).status
                }
            }
            return try await group.reduce(into: [Status]()) { $0.append($1) }
        }
        #expect(answers.count { $0 == .ok || $0 == .noContent } == 1)
        #expect(try await world.events().filter { $0 == "totp.used" }.count == 1)
        #expect(try await !world.events().contains("totp.refused"), "It was no guess.")
    }
}

extension SignInWorld {
    /// How the last one who signed in showed who it was.
    fileprivate func methods() async throws -> JSON? {
        try await log.events(from: 1, limit: .max, in: realm)
            .last { $0.name == "session.opened" }?.open["amr"]
    }
}
