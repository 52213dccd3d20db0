import API
import EventSourcing
import Identity
import JSON
import ReadModels
import Values

/// What is read of the people of a realm, folded from the log each time.
extension MemoryQueries {
    func accounts(_ realm: RealmID) async throws(LogFailure) -> [AccountView] {
        var found: [UUID: (state: Account, first: Timestamp, last: Timestamp)] = [:]
        for recorded in try await log.events(from: 1, limit: .max, in: realm) {
            guard let event = AccountEvent(recorded) else { continue }
            var known = found[recorded.stream] ?? (Account(), recorded.at, recorded.at)
            known.state.apply(event)
            known.last = recorded.at
            found[recorded.stream] = known
        }
        return found.filter { !$0.value.state.isDeleted }.map { id, known in
            AccountView(id, as: known.state, registeredAt: known.first, changedAt: known.last)
        }
    }

    /// What moves with the log is where the log is.
    func listed<Item: Sendable>(
        _ items: [Item], of realm: RealmID
    ) async throws(LogFailure) -> ListPage<Item> {
        let head = try await log.head(of: realm).position
        return ListPage(items, position: head, head: head)
    }
    func mails(
        of realm: RealmID, _ asked: DeliveryPage
    ) async throws(LogFailure) -> [DeliveryView] {
        var found: [UUID: (state: Mail, first: Int64, last: Recorded)] = [:]
        for recorded in try await log.events(from: 1, limit: .max, in: realm) {
            guard let event = MailEvent(recorded) else { continue }
            var known = found[recorded.stream] ?? (Mail(), recorded.position, recorded)
            known.state.apply(event)
            known.last = recorded
            found[recorded.stream] = known
        }
        return found.filter { $0.value.state.status != .sent }.map { id, known in
            DeliveryView(
                id: id, kind: "otp.issued", position: known.first,
                hasFailed: known.state.status == .failed, attempts: known.state.attempts,
                dueAt: known.last.at, code: known.last.open["code"]?.integer.map(Int.init),
                reason: known.last.open["reason"]?.string.flatMap(MailFault.init(rawValue:)))
        }.filter { !asked.failedOnly || $0.hasFailed }.sorted { $0.id < $1.id }
            .filter { mail in asked.after.map { mail.id > $0 } ?? true }.prefix(asked.limit).map {
                $0
            }
    }

    func notifications(
        of realm: RealmID, _ asked: DeliveryPage
    ) async throws(LogFailure) -> [DeliveryView] {
        var found: [UUID: (state: Identity.Notification, at: Timestamp, position: Int64)] = [:]
        for recorded in try await log.events(from: 1, limit: .max, in: realm) {
            guard let event = NotificationEvent(recorded) else { continue }
            var known =
                found[recorded.stream] ?? (Identity.Notification(), recorded.at, recorded.position)
            known.state.apply(event)
            found[recorded.stream] = known
        }
        return found.filter { [.due, .failed].contains($0.value.state.status) }.map { id, known in
            DeliveryView(
                id: id, kind: known.state.terms?.category ?? "", position: known.position,
                hasFailed: known.state.status == .failed, attempts: known.state.attempts,
                dueAt: known.at, code: nil)
        }.filter { !asked.failedOnly || $0.hasFailed }.sorted { $0.id < $1.id }
            .filter { one in asked.after.map { one.id > $0 } ?? true }.prefix(asked.limit).map {
                $0
            }
    }

    func clientLogins(
        of realm: RealmID, _ asked: LoginHistoryPage
    ) async throws(LogFailure) -> [LoginView] {
        let (selection, place, limit) = asked
        var views: [LoginView] = []
        for recorded in try await log.events(from: 1, limit: .max, in: realm) {
            switch SessionEvent(recorded) {
            case .opened(let terms):
                guard let account = terms.account else { continue }
                views.append(
                    LoginView(
                        position: recorded.position, at: recorded.at, account: account,
                        app: terms.app, clientID: terms.clientID,
                        method: terms.method?.rawValue, isRefused: false, reason: nil,
                        session: recorded.stream, source: nil, device: nil
                    ).from(terms.from))
            case .refused(let attempt):
                views.append(
                    LoginView(
                        position: recorded.position, at: recorded.at, account: attempt.account,
                        app: attempt.app, clientID: attempt.clientID,
                        method: attempt.method.rawValue, isRefused: true,
                        reason: attempt.reason, session: nil, source: nil, device: nil
                    ).from(attempt.from))
            case .ended(let reason, _, let from):
                let session = views.last { $0.session == recorded.stream }
                for index in views.indices where views[index].session == recorded.stream {
                    views[index].endedAt = recorded.at
                    views[index].endReason = reason.rawValue
                }
                guard let session, [.reuse, .codeReuse].contains(reason) else { continue }
                views.append(
                    LoginView(
                        position: recorded.position, at: recorded.at, account: session.account,
                        app: session.app, clientID: session.clientID,
                        method: reason == .reuse ? "refresh_token" : session.method,
                        isRefused: true, reason: reason.rawValue, session: nil, source: nil,
                        device: nil
                    ).from(from))
            case .refreshed, .detached, nil: break
            }
        }
        let chosen = views.reversed().filter { view in
            (selection.account == nil || view.account == selection.account)
                && (selection.clientID == nil || view.clientID == selection.clientID)
                && (selection.isRefused == nil || view.isRefused == selection.isRefused)
                && (selection.since.map { view.at >= $0 } ?? true)
                && (selection.until.map { view.at < $0 } ?? true)
                && (place.map {
                    view.at < $0.at || view.at == $0.at && view.position < $0.position
                } ?? true)
        }
        return Array(chosen.prefix(limit))
    }
}

extension MemoryQueries {
    func fold<State: StreamState>(
        _ type: State.Type, _ stream: UUID, _ realm: RealmID
    ) async throws(LogFailure) -> State {
        var state = State()
        for recorded in try await log.stream(stream, after: 0, in: realm) {
            guard let event = State.Event(recorded) else { throw .damaged }
            state.apply(event)
        }
        return state
    }
}

extension MemoryQueries {
    func line(of session: UUID, in realm: RealmID) async throws(LogFailure) -> SessionLine? {
        guard let session = try await view(session, in: realm) else { return nil }
        var above: [UUID: SessionView] = [:]
        var names = session.above
        while let name = names.popLast() {
            guard let found = try await view(name, in: realm) else { continue }
            above[name] = found
            names += found.above
        }
        return SessionLine(session: session, above: above)
    }

    private func view(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> SessionView? {
        let session = try await fold(Session.self, id, realm)
        guard let terms = session.terms else { return nil }
        let client = try await fold(Client.self, terms.client, realm)
        var isOver = session.end != nil || client.isDisabled || client.isDeleted
        if let holder = terms.account {
            let account = try await fold(Account.self, holder, realm)
            isOver =
                isOver || account.isDisabled || account.isDeleted
                || !account.keeps(terms)
        }
        return SessionView(
            id: id, terms: terms, generation: session.generation,
            refreshedAt: session.refreshedAt, isOver: isOver)
    }

    func sessions(
        in realm: RealmID, _ asked: PageOfAccount
    ) async throws(LogFailure) -> [OpenSessionView] {
        let (account, now, after, limit) = asked
        var sessions: [UUID: (state: Session, opened: Timestamp, used: Timestamp)] = [:]
        var holder = Account()
        for recorded in try await log.events(from: 1, limit: .max, in: realm) {
            if recorded.stream == account, let event = AccountEvent(recorded) {
                holder.apply(event)
            }
            guard let event = SessionEvent(recorded) else { continue }
            var known = sessions[recorded.stream] ?? (Session(), recorded.at, recorded.at)
            known.state.apply(event)
            known.used = recorded.at
            sessions[recorded.stream] = known
        }
        return sessions.sorted { $1.key < $0.key }.compactMap { id, known in
            guard let terms = known.state.terms, terms.account == account,
                known.state.end == nil, holder.keeps(terms), !holder.isDisabled,
                now < terms.expiresAt, after.map({ id < $0 }) ?? true
            else { return nil }
            return OpenSessionView(
                id: id, terms: terms, app: nil, openedAt: known.opened, lastUsedAt: known.used)
        }.prefix(limit).map { $0 }
    }
}

extension LoginView {
    fileprivate func from(_ place: SignInPlace) -> LoginView {
        var view = self
        (view.source, view.device) = (place.source, place.device)
        view.channel = place.channel?.rawValue
        view.country = place.location?.country
        view.asn = place.location?.asn
        view.area = place.location?.area?.description
        return view
    }
}
