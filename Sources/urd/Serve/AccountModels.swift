import API
import EventSourcing
import Identity
import Postgres
import ReadModels
import Values

/// What is read of the people of a realm.
extension ReadModelQueries: AccountQueries {
    func account(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> AccountView? {
        try await asking { () throws(ReadFailure) in
            try await Accounts(database).find(id, in: realm)
        }.map(view)
    }

    func account(
        mailbox: UUID, in realm: RealmID
    ) async throws(LogFailure) -> AccountView? {
        try await asking { () throws(ReadFailure) in
            try await Accounts(database).find(mailbox: mailbox, in: realm)
        }.map(view)
    }

    func accounts(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [AccountView] {
        try await asking { () throws(ReadFailure) in
            try await Accounts(database).page(in: realm, after: after, limit: limit)
        }.map(view)
    }

    func sessions(
        of account: UUID, in realm: RealmID, at now: Timestamp, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [OpenSessionView] {
        try await asking { () throws(ReadFailure) in
            try await AccountSessions(database).page(
                of: account, in: realm, at: now, after: after, limit: limit)
        }.map {
            OpenSessionView(
                id: $0.id, terms: $0.terms, app: $0.app, openedAt: $0.openedAt,
                lastUsedAt: $0.refreshedAt ?? $0.openedAt)
        }
    }

    func mails(
        of realm: RealmID, failedOnly: Bool, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [MailView] {
        try await asking { () throws(ReadFailure) in
            try await WorkQueue(.mails, database).page(
                of: realm, failedOnly: failedOnly, after: after, limit: limit)
        }.map {
            MailView(
                id: $0.id, kind: $0.kind, position: $0.position, hasFailed: $0.hasFailed,
                attempts: $0.attempts, dueAt: $0.dueAt, code: $0.code,
                reason: $0.reason.flatMap(MailFault.init(rawValue:)))
        }
    }

    func loginHistory(
        of realm: RealmID, _ selection: LoginSelection, after place: LoginPlace?, limit: Int
    ) async throws(LogFailure) -> [LoginView] {
        let selected = LoginHistory.Selection(
            account: selection.account, clientID: selection.clientID,
            isRefused: selection.isRefused, since: selection.since, until: selection.until)
        let start = place.map { LoginHistory.Place(at: $0.at, position: $0.position) }
        return try await asking { () throws(ReadFailure) in
            try await LoginHistory(database).page(
                of: realm, selected, after: start, limit: limit)
        }.map(view)
    }

    func reaches(
        _ list: FollowingList, _ position: Int64, epoch: Int, of realm: RealmID
    ) async throws(LogFailure) -> Reached {
        let reached = try await asking { () throws(ReadFailure) in
            switch list {
            case .mails:
                try await WorkQueue(.mails, database).reaches(
                    position, epoch: epoch, of: realm, within: Self.patience)
            case .notifications:
                try await WorkQueue(.notifications, database).reaches(
                    position, epoch: epoch, of: realm, within: Self.patience)
            case .loginHistory:
                try await LoginHistory(database).reaches(
                    position, epoch: epoch, of: realm, within: Self.patience)
            }
        }
        return switch reached {
        case .yes: .yes
        case .notYet: .notYet
        case .never: .never
        }
    }

    private func view(_ account: Accounts.Entry) -> AccountView {
        AccountView(
            id: account.id, mailbox: account.mailbox, isConfirmed: account.isConfirmed,
            isDisabled: account.isDisabled, deletionDue: account.deletionDue,
            registeredAt: account.registeredAt, changedAt: account.changedAt)
    }

    private func view(_ login: LoginHistory.Entry) -> LoginView {
        LoginView(
            position: login.position, at: login.at, account: login.account, app: login.app,
            clientID: login.clientID, method: login.method, isRefused: login.isRefused,
            reason: login.reason, session: login.session, source: login.source,
            device: login.device, endedAt: login.endedAt, endReason: login.endReason)
    }
}
