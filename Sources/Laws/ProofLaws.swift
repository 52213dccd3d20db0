import Values

/// Laws of what is given out and used.
extension Law {
    static func ofProofs() -> [Law] {
        [
            Law(
                5,
                """
                A mailed code is used at most once, within its life, never after as many wrong \
                guesses as the realm allows, and is not given again after its use.
                """,
                mailedCodes()
                    + once(
                        5, "a second factor's code", given: "mailed_code.issued",
                        used: "mailed_code.redeemed", named: "mail", hasGeneration: true)),
            Law(
                6,
                """
                A mailed link, an invitation, a session code, a delegated code, a pushed request, \
                a device code and a registration token are used as often as they may be, within \
                their life, and not after they were withdrawn.
                """,
                links() + devices() + delegatedCodes()
                    + once(
                        6, "an invitation", given: "invite.created", used: "invite.used",
                        ended: ["invite.revoked"])
                    + once(
                        6, "a session code", given: "session_code.issued",
                        used: "session_code.used")
                    + once(
                        6, "a registration token", given: "registration_token.created",
                        used: "registration_token.used", ended: ["registration_token.revoked"],
                        limit: { $0.integer("uses") })
                    + [
                        Check("pushed_request.used") { past, event in
                            guard event.logged.version != 1 else { return }
                            past.broken(6, "a pushed request was used before")
                        }
                    ]),
        ]
    }

    private static func mailedCodes() -> [Check] {
        let codes = Memory<Proof> { $0.isOver(at: $1) }
        return [
            Check("otp.issued") { past, event in
                let id = event.named("otp")
                codes.begin(Proof(event.data, hasGeneration: true), id, at: event.second)
                if let twin = codes[event.data.identifier("repeats")], twin.uses > 0 {
                    past.broken(5, "a code is given again that was used")
                }
            },
            Check("otp.refused") { past, event in
                let id = event.named("otp")
                if codes[id] == nil {
                    past.missing(
                        5, mayBeForgotten: codes.hasForgotten,
                        "a code was guessed that was never given out")
                }
                codes[id]?.refusals += 1
            },
            Check("otp.redeemed") { past, event in
                let id = event.named("otp")
                past.use(codes, id, 5, "a mailed code", event)
                guard let refusals = codes[id]?.refusals else { return }
                past.judge(guesses: refusals)
            },
        ]
    }

    private static func links() -> [Check] {
        once(
            6, "a magic link", given: "link.issued", used: "link.redeemed", named: "link",
            hasGeneration: true)
            + once(
                6, "a mailed link", given: "mailed_link.issued", used: "mailed_link.used",
                named: "mail", hasGeneration: true)
    }

    private static func devices() -> [Check] {
        let codes = Memory<Proof> { $0.isOver(at: $1) }
        let what = "a device code"
        return [
            Check("device.requested") { past, event in
                if codes[event.stream] != nil { past.broken(6, "\(what) is given out twice") }
                codes.begin(Proof(event.data), event.stream, at: event.second)
            },
            Check("device.approved") { past, event in
                past.stands(codes, event.stream, 6, what)
                if let code = codes[event.stream], code.isApproved {
                    past.broken(6, "\(what) was approved before")
                }
                codes[event.stream]?.isApproved = true
            },
            Check("device.denied") { past, event in
                past.stands(codes, event.stream, 6, what)
                codes[event.stream]?.hasEnded = true
            },
            Check("device.redeemed") { past, event in
                past.use(codes, event.stream, 6, what, event)
            },
        ]
    }

    private static func delegatedCodes() -> [Check] {
        let codes = Memory<Proof> { $0.isOver(at: $1) }
        return [
            Check("delegated_code.issued", "delegated_code.used") { past, event in
                // A token of the provider's own is used without having been given out here.
                if event.logged.version == 1 || event.is("delegated_code.issued") {
                    codes.begin(Proof(event.data), event.stream, at: event.second)
                }
                if event.is("delegated_code.used") {
                    past.use(codes, event.stream, 6, "a delegated code", event)
                }
            }
        ]
    }
}

extension Past {
    /// Where apps have limits of their own, ten guesses are taken as the limit. Both may stand before the
    /// first position.
    fileprivate mutating func judge(guesses: Int64) {
        let own = otpAttempts.flatMap { $0 > 0 ? $0 : nil } ?? 3
        guard guesses >= max(own, apps.isEmpty ? 0 : 10) else { return }
        missing(5, "a mailed code was used after \(guesses) wrong ones")
    }
}
