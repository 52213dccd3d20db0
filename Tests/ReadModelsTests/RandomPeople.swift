import JSON
import Values

/// What people do in a random history.
extension RandomHistory {
    /// A notice is asked for by one stream and followed by its own.
    mutating func notice() -> Happening {
        if notices.isEmpty || chance(60) {
            notices.append(fresh())
            return happening(
                "session.ended", fresh(),
                """
                {"issuer":"https://a.example","notice":"\(notices.last ?? .zero)",
                "reason":"logged_out"}
                """)
        }
        let index = Int.random(in: 0..<notices.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            return happening(
                "logout_notice.deferred", notices[index],
                #"{"attempt":1,"code":503,"until":\#(1_800_000_000 + serial)}"#)
        case 1:
            return happening(
                "logout_notice.failed", notices.remove(at: index), #"{"attempt":2,"code":400}"#)
        default:
            return happening(
                "logout_notice.delivered", notices.remove(at: index), #"{"attempt":1}"#)
        }
    }

    /// Asked for, tried some times, and settled.
    mutating func notification() -> Happening {
        if notifications.isEmpty || chance(50) {
            notifications.append(fresh())
            return happening(
                "notification.requested", notifications.last ?? .zero,
                #"{"account":"\#(fresh())","category":"c","due":\#(1_800_000_000 + serial)}"#)
        }
        let index = Int.random(in: 0..<notifications.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            return happening(
                "notification.deferred", notifications[index],
                #"{"attempt":1,"code":503,"until":\#(1_800_000_000 + serial)}"#)
        case 1:
            return happening(
                "notification.failed", notifications[index],
                #"{"attempt":2,"code":404,"reason":"not_taken"}"#)
        case 2: return happening("notification.requeued", notifications[index])
        case 3:
            return happening(
                "notification.mailed", notifications.remove(at: index),
                #"{"account":"\#(fresh())","attempt":1,"mail":"\#(newMail())"}"#)
        case 4:
            return happening(
                "notification.superseded", notifications.remove(at: index),
                #"{"by":"\#(fresh())"}"#)
        default:
            return happening(
                "notification.pushed", notifications.remove(at: index),
                #"{"attempt":1,"clients":["\#(fresh())"],"route":"flagship"}"#)
        }
    }

    /// One of a few clients, devices or browsers.
    mutating func randomPlace(_ kind: String) -> UUID {
        let kinds = ["client", "federated_device", "browser"]
        let index = kinds.firstIndex { kind.hasSuffix($0) } ?? 0
        return UUID(high: 77 + UInt64(index), low: UInt64(number(1...3)))
    }

    mutating func removal(of account: UUID) -> Happening {
        removals[account, default: 0] += 1
        let places = ["client", "federated_device", "browser", #"offline":true,"browser"#]
        let place = places[number(0...3)]
        return happening(
            "account.access_removed", account,
            #"{"\#(place)":"\#(randomPlace(place))","removals":\#(removals[account] ?? 0)}"#)
    }

    mutating func consent() -> Happening {
        if consents.isEmpty || chance(40) { consents.append(fresh()) }
        let stream = consents[Int.random(in: 0..<consents.count, using: &random)]
        let account = accounts.first ?? fresh()
        guard chance(70) else {
            return happening(
                "consent.withdrawn", stream, #"{"account":"\#(account)","client":"\#(fresh())"}"#)
        }
        let more =
            chance(50)
            ? "" : #","resources":["https://\#(serial)"],"places":[{"place":"a:","scope":[]}]"#
        return happening(
            "consent.given", stream,
            """
            {"account":"\(account)","client":"\(stream)","client_id":"c",
            "given_at":\(1_800_000_000 + serial),"scope":["openid","s\(serial)"]\(more)}
            """)
    }

    /// A few people, each with a few keys and a PIN.
    mutating func appMethod() -> Happening {
        if appMethods.isEmpty || chance(20) {
            appMethods.append((fresh(), accounts.first ?? fresh(), fresh(), fresh()))
        }
        let index = number(0...(appMethods.count - 1))
        let of = appMethods[index]
        let whose = #""account":"\#(of.account)","client":"\#(of.client)""#
        switch number(0...5) {
        case 0, 1:
            let key = fresh()
            appMethods[index].key = key
            return happening(
                "app_method.key_enrolled", of.owner,
                #"{\#(whose),"key":"\#(key)","method":"TRUSTED_DEVICE","algorithm":"ED25519","public_key":"\#(secret())","enrolled_at":\#(1_800_000_000 + serial),"mail":"\#(newMail())"}"#
            )
        case 2:
            return happening(
                "app_method.key_removed", of.owner, #"{\#(whose),"key":"\#(of.key)"}"#)
        case 3: return happening("app_method.pin_removed", of.owner, "{\(whose)}")
        default:
            return happening(
                "app_method.pin_set", of.owner,
                #"{\#(whose),"hash":"\#(secret())","set_at":\#(1_800_000_000 + serial)}"#)
        }
    }

    mutating func browser() -> Happening {
        guard let account = accounts.randomElement(using: &random) else { return self.account() }
        if chance(15) {
            return happening(
                "browser.refused", fresh(),
                #"{"account":"\#(account)","method":"email_code","reason":"invalid_code"}"#)
        }
        if browsers.isEmpty || chance(60) {
            let stream = fresh()
            browsers.append(stream)
            return happening(
                "browser.opened", stream,
                """
                {"account":"\(account)","amr":["otp"],"device":"Mac","digest":"\(secret())",
                "expires_at":1900000000,"method":"email_code","opened_at":1800000000,
                "source":"s\(serial)","stamp":0}
                """)
        }
        let stream = browsers.remove(at: Int.random(in: 0..<browsers.count, using: &random))
        return happening("browser.ended", stream, #"{"reason":"signed_out"}"#)
    }

    mutating func invite() -> Happening {
        if invites.isEmpty || chance(50) {
            let stream = fresh()
            invites.append(stream)
            let app = chance(50) ? #""app":"\#(fresh())","# : ""
            let mailbox = chance(30) ? #","mailbox":"\#(fresh())""# : ""
            return happening(
                "invite.created", stream, "{\(app)\"expires_at\":1800000000\(mailbox)}")
        }
        let stream = invites.remove(at: Int.random(in: 0..<invites.count, using: &random))
        return chance(50)
            ? happening("invite.revoked", stream)
            : happening(
                "invite.used", stream, #"{"mailbox":"\#(fresh())","used_at":1800000000}"#)
    }

    mutating func passkey() -> Happening {
        if passkeys.isEmpty || chance(30) {
            let stream = fresh()
            if chance(10) {
                return happening(
                    "passkey.enrollment_refused", stream,
                    #"{"account":"\#(fresh())","reason":"signature"}"#)
            }
            passkeys.append(stream)
            return happening(
                "passkey.enrolled", stream,
                """
                {"account":"\(accounts.first ?? fresh())","attestation":"none",
                "backed_up":false,"backup_eligible":\(chance(50)),"client":"\(fresh())",
                "counter":\(chance(50) ? 0 : serial),"credential":"\(secret())",
                "enrolled_at":1800000000,"format":"none","mail":"\(fresh())",
                "model":"\(fresh())","public_key":"\(secret())","relying_party":"acme.example",
                "transports":["hybrid"],"trusted":false,"user_verified":true}
                """)
        }
        let index = Int.random(in: 0..<passkeys.count, using: &random)
        let stream = passkeys[index]
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<5:
            let counter = chance(20) ? 0 : serial
            return happening(
                "passkey.used", stream,
                #"{"backed_up":true,"counter":\#(counter),"used_at":1800000000}"#)
        case 5, 6:
            return happening("passkey.renamed", stream, #"{"account":"\#(fresh())"}"#)
        default:
            passkeys.remove(at: index)
            return happening(
                "passkey.removed", stream,
                #"{"account":"\#(fresh())","mail":"\#(fresh())"}"#)
        }
    }
}

extension Happening {
    /// Whether it removes access from where a session was opened.
    func removesAccess(from session: JSONObject) -> Bool {
        type == "account.access_removed"
            && ["client", "federated_device", "browser"].contains { place in
                session[place]?.string.map { data.contains("\"\(place)\":\"\($0)\"") } ?? false
            }
            && (!data.contains("browser")
                || data.contains("offline") == (session["offline"]?.bool ?? false))
    }
}
