internal import EventSourcing
internal import HTML
internal import Identity
internal import Values

/// A recovery code that was used, as the activity of its account shows it: its owner sees that it was not
/// the app, and how many are left.
struct RecoveryCodeUse: Sendable, Equatable {
    let position: Int64
    let at: Timestamp
    let left: Int

    /// Of the events of an account's second factor, in their order.
    static func all(in events: [Recorded]) -> [RecoveryCodeUse] {
        var factor = TwoFactor()
        var uses: [RecoveryCodeUse] = []
        for recorded in events {
            guard let event = TwoFactorEvent(recorded) else { continue }
            factor.apply(event)
            guard case .recoveryCodeUsed = event else { continue }
            uses.append(
                RecoveryCodeUse(
                    position: recorded.position, at: recorded.at, left: factor.recoveryCodes.count))
        }
        return uses
    }

    func line(_ say: LocalizedText) -> HTML {
        HTML.element(.li) {
            HTML.element(.div, .class("what")) {
                HTML.element(.strong) {
                    say("Recovery code used", "Wiederherstellungscode benutzt")
                }
                Parts.facts(
                    HTML.element(.span) {
                        left == 1
                            ? say("1 code left", "noch 1 Code übrig")
                            : say("\(left) codes left", "noch \(left) Codes übrig")
                    }, say.moment(at))
            }
            HTML.element(.span, .class("badge")) { say("Used", "Benutzt") }
        }
    }
}

extension Call<RealmContext> {
    func recoveryCodeUses(of account: UUID) async throws(Problem) -> [RecoveryCodeUse] {
        RecoveryCodeUse.all(
            in: try await RealmLookups(context).events(of: TwoFactor.stream(of: account)))
    }
}
