internal import EventSourcing
internal import HTML
internal import Identity
internal import ReadModels
internal import Values

/// An app with access to the user's account: by sessions, however many, by consent, or by both.
struct ConnectedApp: Sendable, Equatable {
    let clientID: String
    let name: String
    /// Nil: the app has no session now, and gets the next one without asking the user.
    var lastUsedAt: Timestamp?
    /// One, but where a client came after another one of its name.
    var agreed: [GivenConsent]

    func line(_ visit: PageVisit) -> HTML {
        let say = visit.say
        return HTML.element(.li) {
            HTML.element(.div, .class("what")) {
                HTML.element(.strong) { name }
                if let lastUsedAt {
                    HTML.element(.span, .class("soft small")) {
                        say("Last used ", "Zuletzt benutzt ")
                        say.moment(lastUsedAt)
                    }
                }
                for given in agreed { Self.line(given, say) }
            }
            visit.form("/account/apps/end") {
                Parts.hidden("client", clientID)
                HTML.element(
                    .button, .type("submit"), .class("second"),
                    .label(say("Remove access: \(name)", "Zugriff entziehen: \(name)"))
                ) { say("Remove access", "Zugriff entziehen") }
            }
        }
    }

    private static func line(_ given: GivenConsent, _ say: LocalizedText) -> HTML {
        HTML {
            HTML.element(.span, .class("soft small")) {
                say("Allowed ", "Erlaubt ")
                say.moment(given.at)
                if !given.places.isEmpty {
                    say("; led you to ", "; führte Sie zu ")
                    given.places.map(\.place).joined(separator: ", ")
                }
                ":"
            }
            HTML.element(.ul, .class("scopes soft small")) {
                for scope in given.agreed.scope {
                    ScopeItem.item(scope, isRemembered: false, say)
                }
                for resource in given.agreed.resources {
                    HTML.element(.li) {
                        say("at ", "bei ")
                        HTML.element(.code, .class("break")) { resource }
                    }
                }
            }
        }
    }
}

extension Call<RealmContext> {
    func connectedApps(of account: UUID) async throws(Problem) -> [ConnectedApp] {
        let sessions = try await lastSessions(of: account)
        let consents = try await RealmLookups(context).consents(of: account).map(\.given)
        let names = try await names(
            ofClients: sessions.map(\.clientID) + consents.map(\.clientID))
        var apps: [ConnectedApp] = []
        func add(_ clientID: String, used: Timestamp? = nil) {
            guard let known = apps.firstIndex(where: { $0.clientID == clientID }) else {
                apps.append(
                    ConnectedApp(
                        clientID: clientID, name: names[clientID] ?? clientID, lastUsedAt: used,
                        agreed: consents.filter { $0.clientID == clientID }))
                return
            }
            apps[known].lastUsedAt = [apps[known].lastUsedAt, used].compactMap { $0 }.max()
        }
        for session in sessions { add(session.clientID, used: session.lastUsedAt) }
        for given in consents { add(given.clientID) }
        return apps
    }

    /// Of each client the one that was used last of those that are not over.
    private func lastSessions(of account: UUID) async throws(Problem) -> [ClientSession] {
        let known = try await context.ask(ClientSession.lastOfClients, account)
        var last: [ClientSession] = []
        for session in known where !last.contains(where: { $0.clientID == session.clientID }) {
            if try await context.lasting(session.id) != nil { last.append(session) }
        }
        return last
    }

    func names(ofClients clientIDs: [String]) async throws(Problem) -> [String: String] {
        var names: [String: String] = [:]
        for clientID in clientIDs where names[clientID] == nil {
            names[clientID] = try await name(ofClient: clientID)
        }
        return names
    }

    /// What people know it by. One that is gone has no other name left than its id.
    private func name(ofClient clientID: String) async throws(Problem) -> String {
        try await RealmLookups(context).client(named: clientID)?.metadata.clientName ?? clientID
    }
}
