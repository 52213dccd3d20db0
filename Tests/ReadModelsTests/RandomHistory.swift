import Values

/// A history that the domain could have written, of every kind of stream; a seed repeats it.
struct RandomHistory {
    var random: Numbers
    var versions: [UUID: Int] = [:]
    var clients: [UUID] = []
    var apps: [UUID] = []
    var keys: [UUID] = []
    var accounts: [UUID] = []
    var deleted: [UUID] = []
    var sessions: [UUID] = []
    var removals: [UUID: Int] = [:]
    var browsers: [UUID] = []
    var mails: [UUID] = []
    var invites: [UUID] = []
    var consents: [UUID] = []
    var appMethods: [(owner: UUID, account: UUID, client: UUID, key: UUID)] = []
    var notices: [UUID] = []
    var notifications: [UUID] = []
    var passkeys: [UUID] = []
    var hosts: [(stream: UUID, name: String, isAssigned: Bool)] = []
    var registrationTokens: [UUID] = []
    var webApps: [UUID] = []
    var things = RandomThings()
    var signalStreams: [UUID] = []
    var subscriptions: [UUID] = []
    var findings: [UUID] = []
    var serial = 0
    /// Of its own, so that what happens does not depend on when.
    private var clocks: Numbers

    init(seed: UInt64) {
        random = Numbers(state: seed)
        clocks = Numbers(state: ~seed)
    }

    mutating func events(_ count: Int) -> [Happening] {
        (0..<count).map { _ in next() }
    }

    mutating func next() -> Happening {
        serial += 1
        switch Int.random(in: 0..<70, using: &random) {
        case 0..<11: return client()
        case 11..<14: return app()
        case 14..<16: return realm()
        case 16..<18: return host()
        case 18: return key()
        case 19: return webApp()
        case 20..<24: return account()
        case 24..<28: return session()
        case 28..<32: return mail()
        case 32..<36: return passkey()
        case 36..<39: return invite()
        case 39..<42: return consent()
        case 42..<45: return browser()
        case 45..<47: return notice()
        case 47, 48: return registrationToken()
        case 50..<53: return notification()
        case 53..<57: return mailbox()
        case 57..<61: return thing()
        case 61, 62: return signalStream()
        case 63...65: return subscription()
        case 66, 67: return appMethod()
        case 68, 69: return finding()
        default: return happening("something.else", fresh(), #"{"n":\#(serial)}"#)
        }
    }

    mutating func client() -> Happening {
        if clients.isEmpty || chance(25) {
            let stream = fresh()
            clients.append(stream)
            return happening(
                "client.registered", stream,
                metadata(clientID: "c\(serial)", secret: chance(70) ? secret() : nil))
        }
        let stream = clients[Int.random(in: 0..<clients.count, using: &random)]
        switch Int.random(in: 0..<15, using: &random) {
        case 12: return happening("client.adopted", stream, #"{"onboarding":false}"#)
        case 14:
            return happening(
                "client.certification_revoked", stream,
                #"{"reason":"revoked","revoked_at":1800000000}"#)
        case 13:
            return happening(
                "client.certified", stream,
                told(#""account":"\#(fresh())","by":"app_attest","certified_at":1800000000"#))
        case 0..<6: return happening("client.updated", stream, metadata())
        case 6..<8:
            return happening("client.secret_rotated", stream, #"{"secret_digest":"\#(secret())"}"#)
        case 8: return happening("client.disabled", stream)
        case 9, 10: return happening("client.enabled", stream)
        default:
            clients.removeAll { $0 == stream }
            return happening("client.deleted", stream)
        }
    }

    func secret() -> String {
        var digest = [UInt8](repeating: 7, count: 32)
        for (index, byte) in String(serial).utf8.enumerated() { digest[index] = byte }
        return Base64URL.encode(digest)
    }

    /// One that nothing happens to any more.
    mutating func waitingInstallation() -> Happening {
        serial += 1
        let stream = fresh()
        return happening(
            "client.registered", stream, metadata(clientID: "c\(serial)", isInstallation: true))
    }

    /// The one in five has an inner object that looks like what is searched for in the text.
    mutating func metadata(
        clientID: String? = nil, secret: String? = nil, isInstallation: Bool = false
    ) -> String {
        var members: [String] = []
        if let clientID { members.append(#""client_id":"\#(clientID)""#) }
        members.append(#""client_name":"Näme \"\#(serial)\" {""#)
        if isInstallation || clientID != nil && chance(40) {
            members.append(#""grant_types":["urn:urd:flagship"]"#)
        }
        if chance(20) {
            members.append(
                #""jwks":{"keys":[{"token_endpoint_auth_method":"client_secret_basic"}]}"#)
        }
        if let secret { members.append(#""secret_digest":"\#(secret)""#) }
        let method =
            ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"]
            .randomElement(using: &random) ?? "none"
        members.append(#""token_endpoint_auth_method":"\#(method)""#)
        return "{\(members.joined(separator: ","))}"
    }

    mutating func app() -> Happening {
        if apps.isEmpty || chance(30) {
            let stream = fresh()
            apps.append(stream)
            return happening(
                "app.created", stream, #"{"name":"App \#(serial)","slug":"a\#(serial)"}"#)
        }
        let stream = apps[Int.random(in: 0..<apps.count, using: &random)]
        if chance(15) {
            apps.removeAll { $0 == stream }
            return happening("app.deleted", stream)
        }
        var members: [String] = []
        if chance(30) { members.append(#""name":"App \#(serial)""#) }
        if chance(70) { members.append(#""settings":\#(settings())"#) }
        if chance(20) { members.append(#""slug":"a\#(serial)""#) }
        return happening("app.updated", stream, "{\(members.joined(separator: ","))}")
    }

    mutating func realm() -> Happening {
        let stream = UUID(high: 1, low: 1)
        guard versions[stream] != nil else {
            return happening("realm.created", stream, #"{"display_name":"Realm"}"#)
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return happening("realm.disabled", stream)
        case 1: return happening("realm.enabled", stream)
        default:
            return happening("realm.settings_changed", stream, #"{"changes":\#(settings())}"#)
        }
    }

    mutating func settings() -> String {
        let names = ["code_lifetime", "mail_from", "native_grants", "rate_limits"]
            .filter { _ in chance(60) }
        let members = names.map { name in
            if chance(30) { return "\"\(name)\":null" }
            // A null within a value unsets nothing.
            return name == "rate_limits"
                ? #""rate_limits":{"oauth-token":{"client":null,"source":\#(serial)}}"#
                : "\"\(name)\":\(serial)"
        }
        return "{\(members.joined(separator: ","))}"
    }

    mutating func host() -> Happening {
        if hosts.isEmpty || chance(40) {
            let stream = fresh()
            // A name that another gave up may be taken by a new stream.
            let free = hosts.last { host in
                !host.isAssigned && !hosts.contains { $0.isAssigned && $0.name == host.name }
            }
            let name = free?.name ?? "h\(serial).example"
            hosts.append((stream, name, true))
            return happening(
                "host.assigned", stream, #"{"host":"\#(name)","realm":"r\#(serial)"}"#)
        }
        let index = Int.random(in: 0..<hosts.count, using: &random)
        if hosts[index].isAssigned {
            // One is always left: a history that ends with none would compare nothing.
            guard hosts.count(where: \.isAssigned) > 1 else {
                return happening("something.else", fresh())
            }
            hosts[index].isAssigned = false
            return happening("host.released", hosts[index].stream)
        }
        let host = hosts[index]
        guard !hosts.contains(where: { $0.isAssigned && $0.name == host.name }) else {
            return happening("something.else", fresh())
        }
        hosts[index].isAssigned = true
        return happening(
            "host.assigned", host.stream, #"{"host":"\#(host.name)","realm":"r\#(serial)"}"#)
    }

    mutating func account() -> Happening {
        if accounts.isEmpty || chance(30) {
            let stream = fresh()
            accounts.append(stream)
            return happening(
                "account.registered", stream,
                #"{"confirmed":\#(chance(50)),"mailbox":"\#(fresh())","origin":"code"}"#)
        }
        if !deleted.isEmpty, chance(10) {
            return happening("account.erased", deleted.removeLast())
        }
        let stream = accounts[Int.random(in: 0..<accounts.count, using: &random)]
        switch Int.random(in: 0..<17, using: &random) {
        case 14...16: return removal(of: stream)
        case 0: return happening("account.mailbox_confirmed", stream)
        case 1, 2: return happening("account.disabled", stream, told())
        case 3, 4: return happening("account.enabled", stream)
        case 5: return happening("account.stamp_rotated", stream, told())
        case 6: return happening("account.roles_changed", stream, #"{"roles":{"shop":["clerk"]}}"#)
        case 7, 8:
            return happening(
                chance(50) ? "account.mailbox_changed" : "account.mailbox_moved", stream,
                told(
                    #""confirmed":\#(chance(50)),"left":"\#(fresh())","mailbox":"\#(fresh())""#))
        case 9, 10:
            let due = 1_800_000_000 + serial
            return happening(
                "account.deletion_scheduled", stream, told(#""due":\#(due)"#))
        case 11, 12: return happening("account.deletion_cancelled", stream)
        default:
            accounts.removeAll { $0 == stream }
            deleted.append(stream)
            return happening("account.deleted", stream, #"{"subjects":["\#(fresh())"]}"#)
        }
    }

    /// Not everybody can be told by mail.
    mutating func told(_ member: String? = nil) -> String {
        let mail = chance(50) ? #""mail":"\#(newMail())""# : nil
        return "{" + [member, mail].compactMap { $0 }.joined(separator: ",") + "}"
    }

    mutating func newMail() -> UUID {
        let mail = fresh()
        mails.append(mail)
        return mail
    }

    /// A mail is asked for by one stream and followed by its own.
    mutating func mail() -> Happening {
        if mails.isEmpty || chance(40) {
            let type = [
                "link.issued", "totp.confirmed", "totp.removed", "passphrase.set",
                "passphrase.refused", "totp.refused",
                "mailed_link.issued", "passphrase.hint_requested",
            ].randomElement(using: &random)
            if let type, chance(50) {
                return happening(
                    type, fresh(), #"{"account":"\#(fresh())","mail":"\#(newMail())"}"#)
            }
            return happening(
                "otp.issued", fresh(),
                """
                {"digest":"\(secret())","expires_at":1800000600,"issued_at":1800000000,
                "otp":"\(newMail())","purpose":"sign_in"}
                """)
        }
        let index = Int.random(in: 0..<mails.count, using: &random)
        let stream = mails[index]
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let until = 1_800_000_000 + serial
            return happening(
                "mail.deferred", stream,
                #"{"attempt":1,"code":0,"reason":"timed_out","until":\#(until)}"#)
        case 1:
            return happening(
                "mail.failed", stream, #"{"attempt":2,"code":550,"reason":"refused"}"#)
        case 2: return happening("mail.requeued", stream)
        default:
            mails.remove(at: index)
            return happening("mail.sent", stream, #"{"attempt":1}"#)
        }
    }

    mutating func session() -> Happening {
        if chance(15) { return refusedSignIn() }
        if sessions.isEmpty || chance(30) {
            let stream = fresh()
            sessions.append(stream)
            let holder = chance(80) ? accounts.randomElement(using: &random) : nil
            let account = holder.map { #""account":"\#($0)","# } ?? ""
            var more = chance(50) ? #""device":"iPhone","# : ""
            if chance(50) { more += #""federated_device":"\#(randomPlace("federated_device"))","# }
            if chance(50) { more += #""browser":"\#(randomPlace("browser"))","# }
            if let known = holder.flatMap({ removals[$0] }) { more += #""removals":\#(known),"# }
            return happening(
                "session.opened", stream,
                """
                {\(account)"amr":["\(chance(50) ? "otp" : "pwd")"],"client":"\(randomPlace("client"))","client_id":"c",\(more)
                \(place())
                "expires_at":1900000000,"method":"urn:cocoar:otp","offline":\(chance(50)),
                "opened_at":1800000000,"resources":[],"scope":["openid"],"source":"s\(serial)",
                "stamp":0}
                """)
        }
        let stream = sessions[Int.random(in: 0..<sessions.count, using: &random)]
        let generation = versions[stream] ?? 1
        if chance(80) {
            return happening(
                "session.refreshed", stream,
                #"{"generation":\#(generation),"refreshed_at":1800000001}"#)
        }
        sessions.removeAll { $0 == stream }
        let reason = ["revoked", "reuse", "code_reuse"][number(0...2)]
        let device = chance(50) ? #""device":"iPhone","# : ""
        return happening(
            "session.ended", stream,
            #"{\#(device)\#(place())"reason":"\#(reason)","source":"s\#(serial)"}"#)
    }

    /// Where a sign-in came from, if that was looked up.
    mutating func place() -> String {
        guard chance(50) else { return "" }
        let country = ["CH", "DE"][number(0...1)]
        return #""area":"N47E008","asn":\#(number(1...9)),"country":"\#(country)","#
    }

    mutating func refusedSignIn() -> Happening {
        let account =
            chance(50)
            ? accounts.randomElement(using: &random).map { #""account":"\#($0)","# } ?? "" : ""
        return happening(
            "session.refused", fresh(),
            """
            {\(account)\(place())"client":"\(fresh())","client_id":"c","method":"urn:cocoar:otp",
            "reason":"invalid_code","source":"s\(serial)"}
            """)
    }

    mutating func key() -> Happening {
        if keys.isEmpty || chance(60) {
            let stream = fresh()
            keys.append(stream)
            let realms = chance(50) ? #","realms":["a","b"]"# : ""
            let may = chance(50) ? #","permissions":["events.read","analyst"]"# : ""
            return happening(
                "admin_key.created", stream,
                #"{"digest":"\#(secret())","name":"Key \#(serial)"\#(may)\#(realms)}"#)
        }
        return happening("admin_key.revoked", keys.removeLast())
    }

    mutating func happening(
        _ type: String, _ stream: UUID, _ data: String = "{}"
    ) -> Happening {
        versions[stream, default: 0] += 1
        return Happening(type, stream, version: versions[stream] ?? 1, data, at: time())
    }

    /// Two nodes write, the clock of one of them an hour behind, and what was asked for first is not
    /// always the first on record: times run backwards.
    private mutating func time() -> Timestamp {
        let behind: Int64 = Bool.random(using: &clocks) ? 3600 : 0
        let waited = Int64.random(in: 0..<7200, using: &clocks)
        return Timestamp(seconds: 1_790_000_000 + Int64(serial) * 300 - behind - waited)
    }

    mutating func fresh() -> UUID {
        UUID(high: random.next(), low: random.next())
    }

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    /// A number to cut the history into batches.
    mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &random)
    }
}
