import EventSourcing
import Identity
import JSON
import ReadModels
import Values

@testable import API

extension MemoryQueries {
    /// What each question is answered with.
    static let answers: Answers<MemoryQueries> = {
        var answers = Answers<MemoryQueries>()
        answers.on(AdminKeyView.byID) { me, _, id in
            try await me.adminKeys().first { $0.id == id }
        }
        answers.on(AdminKeyView.page) { me, realm, asked in
            try await me.page(me.adminKeys(), of: realm, asked, id: \.id)
        }
        answers.on(RealmView.byName) { me, realm, _ in try await me.realm(realm) }
        answers.on(RealmView.page) { me, realm, asked in
            var views: [RealmView] = []
            for id in me.log.realms { if let view = try await me.realm(id) { views.append(view) } }
            return try await me.page(views, of: realm, asked, id: \.realm.name)
        }
        answers.on(HostView.page) { me, realm, asked in
            try await me.page(me.hosts(of: realm), of: .system, asked, id: \.host)
        }
        answers.on(AppView.byID) { me, realm, id in
            try await me.apps(realm).first { $0.id == id }
        }
        answers.on(AppView.page) { me, realm, asked in
            try await me.page(me.apps(realm), of: realm, asked, id: \.id)
        }
        answers.on(AppView.settings) { try await $0.settings(ofApp: $2, in: $1) }
        answers.on(WebAppView.byID) { me, realm, id in
            try await me.webApps(realm).first { $0.id == id }
        }
        answers.on(WebAppView.bySlug) { me, realm, asked in
            try await me.webApps(realm).first {
                $0.card.slug == asked.slug && $0.card.kind == asked.kind
            }
        }
        answers.on(WebAppView.byOrigin) { me, realm, host in
            try await me.webApps(realm).first { $0.card.originHost == host }
        }
        answers.on(WebAppView.page) { me, realm, asked in
            try await me.page(me.webApps(realm), of: realm, asked, id: \.id)
        }
        answers.on(SubscriptionView.byID) { me, realm, id in
            try await me.subscriptions(realm).first { $0.id == id }
        }
        for kind in Subscription.Kind.allCases {
            answers.on(SubscriptionView.page(of: kind)) { me, realm, asked in
                try await me.page(
                    me.subscriptions(realm).filter { $0.kind == kind }, of: realm, asked,
                    id: \.id)
            }
        }
        answers.on(ClientView.byClientID) { me, realm, name in
            try await me.clients(realm).first { $0.clientID == name }
        }
        answers.on(ClientView.ofApp) { me, realm, asked in
            let app = JSON.string(asked.app.description)
            let all = try await me.clients(realm).filter { $0.metadata["app_id"] == app }
            return Array(all.prefix(asked.limit))
        }
        answers.on(ClientView.page) { me, realm, asked in
            try await me.page(me.clients(realm), of: realm, asked, id: \.id)
        }
        answers.on(ClientView.installations) { me, realm, _ in
            try await me.clients(realm).filter {
                ClientMetadata(recorded: $0.metadata)?.isInstallation == true
            }.sorted { $0.issuedAt < $1.issuedAt }
        }
        answers.on(KnownClient.byClientID) { try await $0.knownClient($2, in: $1) }
        answers.on(InviteView.page) { me, realm, asked in
            try await me.page(me.invites(realm), of: realm, asked, id: \.id)
        }
        answers.on(InviteView.ofApp) { me, realm, asked in
            try await me.page(
                me.invites(realm).filter { $0.terms.app == asked.app }, of: realm,
                (asked.after, asked.limit), id: \.id)
        }
        answers.on(RegistrationTokenView.page) { me, realm, asked in
            try await me.page(me.registrationTokens(realm), of: realm, asked, id: \.id)
        }
        answers.on(AuditEntry.trail) { try await $0.auditTrail(of: $1, $2) }
        answers.on(AuditEntry.filteredTrail) { try await $0.filteredAuditTrail(of: $1, $2) }
        answers.on(AuditEntry.ofInstallation) { try await $0.history(of: $2, in: $1) }
        answers.on(FindingView.byID) { me, realm, id in
            try await me.findings(in: realm).first { $0.id == id }
        }
        answers.on(FindingView.page) { try await $0.findings(in: $1, $2) }
        answers.on(EventReferences.positions) { try await $0.positions($2, in: $1) }
        answers.on(EventReferences.ofPositions) { try await $0.references(of: $2, in: $1) }
        answerPeople(&answers)
        return answers
    }()

    private static func answerPeople(_ answers: inout Answers<MemoryQueries>) {
        answers.on(AccountView.byID) { me, realm, id in
            try await me.accounts(realm).first { $0.id == id }
        }
        answers.on(AccountView.byMailbox) { me, realm, mailbox in
            try await me.accounts(realm).first {
                $0.mailbox == mailbox || $0.phoneMailbox == mailbox
            }
        }
        answers.on(AccountView.newest) { me, realm, asked in
            let newest = try await me.accounts(realm).sorted {
                ($0.registeredAt, $0.id) > ($1.registeredAt, $1.id)
            }
            return Array(newest.dropFirst(asked.behind).prefix(asked.limit))
        }
        answers.on(AccountView.page) { me, realm, asked in
            try await me.page(me.accounts(realm), of: realm, asked, id: \.id)
        }
        answers.on(ConsentView.byID) { try await $0.consent($2, in: $1) }
        answers.on(ConsentView.ofAccount) { try await $0.consents(of: $2, in: $1) }
        answers.on(AppMethodView.ofAccount) { try await $0.appMethods(of: $2, in: $1) }
        answers.on(PasskeyView.byCredential) { me, realm, credential in
            try await me.passkeys(in: realm).first { $0.credential == credential }
        }
        answers.on(PasskeyView.ofAccount) { try await $0.passkeys(of: $2, in: $1) }
        answers.on(SessionLine.bySession) { try await $0.line(of: $2, in: $1) }
        answers.on(OpenSessionView.ofAccount) { try await $0.sessions(in: $1, $2) }
        answers.on(ClientSession.lastOfClients) { me, realm, account in
            try await me.sessions(in: realm, (account, Timestamp(seconds: 0), nil, .max)).map {
                ClientSession(id: $0.id, clientID: $0.terms.clientID, lastUsedAt: $0.lastUsedAt)
            }.sorted { $0.lastUsedAt > $1.lastUsedAt }
        }
        answers.on(BrowserSessionView.byID) { try await $0.browserSession($2, in: $1) }
        answers.on(BrowserSessionView.ofAccount) { try await $0.browserSessions(in: $1, $2) }
        answers.on(LoginView.history) { try await $0.loginHistory(of: $1, $2) }
        answers.on(LoginView.filteredHistory) { try await $0.filteredLoginHistory(of: $1, $2) }
        answers.on(LoginCount.counts) { me, realm, asked in
            try await me.loginCounts(of: realm, asked.selection, by: asked.group, asked.after)
        }
        answers.on(DeliveryView.mails) { try await $0.mails(of: $1, $2) }
        answers.on(DeliveryView.notifications) { try await $0.notifications(of: $1, $2) }
        answers.on(FollowedPosition.now) { me, realm, _ in
            let head = try await me.log.head(of: realm)
            return FollowedPosition(
                epoch: head.epoch, position: head.position - me.log.lag, head: head.position)
        }
        answers.on(FollowedPosition.reached) { me, realm, asked in
            let head = try await me.log.head(of: realm)
            if head.epoch != asked.epoch { return .never }
            let now = FollowedPosition(
                epoch: asked.epoch, position: head.position - me.log.lag, head: head.position)
            return now.position >= asked.position ? .yes(now) : .notYet(now)
        }
        answers.on(SignalStreamView.ofClient) { try await $0.signalStreams(of: $2, in: $1) }
    }
}
