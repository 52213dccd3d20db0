import Values

/// What later events name, or whose streams they are in, without saying whose it is.
struct RandomThings {
    var mailboxes: [UUID] = []
    var codes: [(mailbox: UUID, otp: UUID)] = []
    var links: [(mailbox: UUID, link: UUID)] = []
    /// Streams by the type of the event that begins them.
    var begun: [String: [UUID]] = [:]
}

extension RandomHistory {
    mutating func mailbox() -> Happening {
        guard let mailbox = things.mailboxes.randomElement(using: &random), chance(85) else {
            things.mailboxes.append(fresh())
            return happening(
                "mailbox.assigned", things.mailboxes.last ?? .zero,
                #"{"account":"\#(holder())"}"#)
        }
        switch number(0...8) {
        case 0:
            return happening("mailbox.released", mailbox, #"{"account":"\#(holder())"}"#)
        case 1:
            return happening("mailbox.assigned", mailbox, #"{"account":"\#(holder())"}"#)
        case 2, 3:
            let otp = newMail()
            things.codes.append((mailbox, otp))
            let mover = chance(30) ? #""account":"\#(holder())","# : ""
            return happening(
                "otp.issued", mailbox,
                """
                {\(mover)"digest":"\(secret())","expires_at":1800000600,"issued_at":1800000000,
                "otp":"\(otp)","purpose":"\(mover.isEmpty ? "sign_in" : "move")"}
                """)
        case 4:
            let link = fresh()
            things.links.append((mailbox, link))
            return happening(
                "link.issued", mailbox,
                #"{"account":"\#(holder())","link":"\#(link)","mail":"\#(newMail())"}"#)
        case 5:
            let found = things.links.randomElement(using: &random)
            return happening(
                "link.redeemed", found?.mailbox ?? mailbox,
                #"{"link":"\#(found?.link ?? fresh())"}"#)
        default:
            let found = things.codes.randomElement(using: &random)
            return happening(
                chance(50) ? "otp.refused" : "otp.redeemed", found?.mailbox ?? mailbox,
                #"{"otp":"\#(found?.otp ?? fresh())","refused_at":1800000000}"#)
        }
    }

    /// Things that begin with whose they are, and go on without it.
    mutating func thing() -> Happening {
        switch number(0...9) {
        case 0:
            return chance(50)
                ? going("passphrase.set", ["passphrase.used", "passphrase.refused"])
                : going("passphrase.imported", ["passphrase.rehashed", "passphrase.refused"])
        case 1: return going("totp.offered", ["totp.used", "recovery_code.used"])
        case 2: return going("session_code.issued", ["session_code.used"])
        case 3: return going("upstream_session.used", ["upstream_session.ended"])
        case 4: return going("device.requested", ["device.approved", "device.redeemed"])
        case 5: return going("mailed_link.issued", ["mailed_link.used"])
        case 6: return owner()
        case 7:
            let people = (0..<number(0...3)).map { _ in "\"\(holder())\"" }
            return happening(
                "personal_data.opened", fresh(),
                #"{"accounts":[\#(people.joined(separator: ","))],"kind":"events"}"#)
        case 8:
            let people = (0..<number(0...3)).map { _ in "\"\(holder())\"" }
            let fields = #""from":1,"subscription":"\#(fresh())","to":\#(serial)"#
            return happening(
                "personal_data.streamed", fresh(),
                #"{\#(fields),"subjects":[\#(people.joined(separator: ","))]}"#)
        default:
            let realm = UUID(high: 1, low: 1)
            guard versions[realm] != nil else { return self.realm() }
            let subject = chance(50) ? holder() : clients.first ?? fresh()
            return happening("realm.subject_erased", realm, #"{"subject":"\#(subject)"}"#)
        }
    }

    private mutating func going(_ first: String, _ later: [String]) -> Happening {
        let known = things.begun[first] ?? []
        guard let stream = known.randomElement(using: &random), chance(70) else {
            things.begun[first, default: []].append(fresh())
            return happening(
                first, things.begun[first]?.last ?? .zero,
                """
                {"account":"\(holder())","browser":\(chance(50)),"client":"\(fresh())",
                "session":"\(fresh())"}
                """)
        }
        let type = later.randomElement(using: &random) ?? first
        switch type {
        case "device.approved":
            return happening(type, stream, #"{"account":"\#(holder())"}"#)
        case "session_code.used":
            return happening(type, stream, #"{"browser":"\#(fresh())"}"#)
        default: return happening(type, stream)
        }
    }

    private mutating func owner() -> Happening {
        let stream = UUID(high: 1, low: 3)
        guard versions[stream] != nil, chance(80) else {
            return happening(
                "owner.appointed", stream,
                #"{"account":"\#(holder())","token":"\#(fresh())"}"#)
        }
        return chance(50)
            ? happening("owner.terms_signed", stream)
            : happening("owner.device_removed", stream, #"{"client":"\#(fresh())"}"#)
    }

    private mutating func holder() -> UUID {
        accounts.randomElement(using: &random) ?? fresh()
    }
}
