internal import EventSourcing
internal import HTML
internal import Identity
internal import Values

/// An app that an owner let in.
struct OwnersDevice: Sendable {
    let client: Client
    let addedAt: Timestamp?
}

/// The apps that the owner of a realm authorized.
struct OwnersDevices {
    private let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    /// The authorized apps, if the account is the realm's owner; nil for any other account.
    func devices(of account: UUID) async throws(Problem) -> [OwnersDevice]? {
        guard context.place.settings.rules.hasOwner else { return nil }
        let owner = try await RealmLookups(context).folded(Owner.self, Owner.stream)
        guard owner.account == account else { return nil }
        var found: [OwnersDevice] = []
        for id in owner.devices {
            found.append(
                OwnersDevice(
                    client: try await RealmLookups(context).folded(Client.self, id),
                    addedAt: id.timestamp))
        }
        return found
    }
}

extension OwnersDevice {
    /// What an owner reads of the app, and how they revoke it.
    func line(_ visit: PageVisit, next: String?) -> HTML {
        let say = visit.say
        let name = client.metadata?.clientName ?? client.clientID
        return HTML.element(.li) {
            HTML.element(.div, .class("what")) {
                HTML.element(.strong) { name }
                Parts.facts(
                    HTML.element(.span) { evidence(say) }, client.certifiedAt.map(say.moment))
                if let addedAt {
                    HTML.element(.span, .class("soft small")) {
                        say("Registered ", "Registriert ")
                        say.moment(addedAt)
                    }
                }
            }
            visit.form("/account/devices/remove") {
                Parts.hidden("client", client.clientID)
                if let next { Parts.hidden("next", next) }
                HTML.element(
                    .button, .type("submit"), .class("second"),
                    .label(say("Remove: \(name)", "Entfernen: \(name)"))
                ) { say("Remove", "Entfernen") }
            }
        }
    }

    private func evidence(_ say: LocalizedText) -> String {
        switch client.certification {
        case .appAttest: say("Verified by Apple App Attest", "Bestätigt durch Apple App Attest")
        case .playIntegrity:
            say("Verified by Google Play Integrity", "Bestätigt durch Google Play Integrity")
        case .safetyNet:
            say("Verified by Google SafetyNet", "Bestätigt durch Google SafetyNet")
        case .mailedCode:
            say("Verified by a code sent by e-mail", "Bestätigt durch einen Code per E-Mail")
        case nil: say("Not verified", "Nicht bestätigt")
        }
    }
}
