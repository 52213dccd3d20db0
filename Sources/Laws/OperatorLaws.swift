import Values

/// Laws of keys, administrators and what is on record for them.
extension Law {
    static func ofOperators() -> [Law] {
        [
            Law(
                24,
                """
                A signing key is published before it is active, active before it is retired, and \
                retired before it is removed.
                """,
                signingKeys()),
            Law(
                25, "An administrator's key acts only between its creation and its revocation.",
                adminKeys()),
            Law(
                26, "A case file is made with a reason on record.",
                [
                    Check("case_file.issued") { past, event in
                        let reason = event.data.text("reason") ?? ""
                        if reason.allSatisfy(\.isWhitespace) {
                            past.broken(26, "\(event.type) without a reason")
                        }
                    }
                ]),
            Law(
                29,
                """
                A finding's evidence lies before it, and a finding that is closed is over.
                """, findings()),
            Law(
                36, "A case file names no more positions than there were.",
                [
                    Check("case_file.issued") { past, event in
                        let positions = event.data.integer("positions") ?? 0
                        let there = past.position - 1
                        guard positions > there else { return }
                        past.broken(
                            36, "a case file names \(positions) positions; there were \(there)")
                    }
                ]),
            Law(
                37,
                """
                A loss that was accepted names where the log ended then, and no more that was sealed of it.
                """,
                [
                    Check("log.loss_accepted") { past, event in
                        let sealed = event.data.integer("sealed") ?? 0
                        let head = event.data.integer("head") ?? 0
                        guard head >= past.position || sealed > head else { return }
                        past.broken(
                            37,
                            "a loss is accepted where the log is said to end at \(head), sealed up to \(sealed)"
                        )
                    }
                ]),
        ]
    }

    private static func signingKeys() -> [Check] {
        let phases: [StaticString] = [
            "signing_key.published", "signing_key.activated", "signing_key.retired",
            "signing_key.removed",
        ]
        let words = ["published", "activated", "retired", "removed"]
        let known = Phases()
        return [
            Check(phases) { past, event in
                let id = event.data.text("kid") ?? ""
                let phase = phases.firstIndex { event.is($0) } ?? 0
                let before = known.keys[id] ?? -1
                if before != phase - 1 {
                    let what = "a signing key is \(words[phase]) that "
                    if before < 0 {
                        past.missing(24, what + "was never published")
                    } else {
                        past.broken(24, what + "is \(words[before])")
                    }
                }
                known.keys[id] = phase
            }
        ]
    }

    /// Keys are events of the system realm: what they do elsewhere is checked in that realm's log alone.
    private static func adminKeys() -> [Check] {
        let areValid = Memory<Bool>()
        return [
            Check("admin_key.created", "admin_key.revoked") { past, event in
                if event.is("admin_key.created") {
                    areValid.begin(true, event.stream, at: event.second)
                } else {
                    if areValid[event.stream] != true {
                        past.missing(25, "an admin key is revoked that is not there")
                    }
                    areValid[event.stream] = false
                }
            },
            Check { past, event in
                guard !areValid.isEmpty, !event.is("admin_key.revoked") else { return }
                let meta = Members()
                meta.read(event.logged.meta)
                let actor = meta.text("actor") ?? ""
                guard actor.hasPrefix("admin:"), let key = UUID(String(actor.dropFirst(6))),
                    areValid[key] == false
                else { return }
                past.broken(25, "\(event.type) by an admin key that was revoked")
            },
        ]
    }

    private static func findings() -> [Check] {
        let areOpen = Memory<Bool> { isOpen, _ in !isOpen }
        return [
            Check("finding.raised", "finding.escalated", "finding.closed") { past, event in
                if event.is("finding.raised") {
                    if areOpen[event.stream] != nil { past.broken(29, "a finding is raised twice") }
                    areOpen.begin(true, event.stream, at: event.second)
                } else if areOpen[event.stream] == nil {
                    past.missing(29, "\(event.type) of a finding that was never raised")
                } else if areOpen[event.stream] == false {
                    past.broken(29, "\(event.type) of a finding that is closed")
                }
                if event.is("finding.closed") { areOpen[event.stream] = false }
                let evidence =
                    event.is("finding.escalated")
                    ? [event.data.integer("position") ?? 0] : event.data.integers("positions")
                for place in evidence where !(1..<past.position).contains(place) {
                    past.broken(
                        29,
                        "a finding rests on position \(place), which does not lie before it")
                }
            }
        ]
    }
}

/// How far each signing key of a realm is: there are a few.
private final class Phases {
    var keys: [String: Int] = [:]
}
