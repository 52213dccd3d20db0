import EventSourcing
import Identity
import JSON
import Postgres
import Testing
import Values

@testable import ReadModels

/// What SQL makes of the events must be what the domain makes of them.
@Suite struct `A read model says the same as the folded streams` {
    let events: [Happening]
    let history: RandomHistory
    let world: World
    let realm: RealmID
    let seed: UInt64

    init() throws {
        world = try World()
        realm = try #require(RealmID("one"))
        seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var history = RandomHistory(seed: seed)
        var events: [Happening] = []
        for _ in 0..<60 {
            let batch = history.events(history.number(1...25))
            try world.append(batch, in: "one")
            events += batch
        }
        let last = [history.waitingInstallation(), history.webApp()]
        try world.append(last, in: "one")
        events += last
        self.events = events
        self.history = history
        let halted = try ProjectionStatus.read(world.superuser).compactMap(\.halt)
        #expect(halted.isEmpty, "seed \(seed)")
    }

    func fold<State: StreamState>(_ prefix: String) throws -> [UUID: State] {
        var states: [UUID: State] = [:]
        for event in events where event.type.hasPrefix(prefix) {
            let fields = try #require(try JSON.parse(Array(event.data.utf8)).object)
            let happened = try #require(
                State.Event(name: event.type, fields: fields), "\(event.type) \(event.data)")
            states[event.stream, default: State()].apply(happened)
        }
        return states
    }

    @Test func `a read model equals the folded streams of clients`() async throws {
        let folded: [UUID: Client] = try fold("client.").filter { !($0.value as Client).isDeleted }
        let entries = try await world.queries.ask(ClientView.page, (nil, 10_000), in: realm)
        #expect(Set(entries.map(\.id)) == Set(folded.keys), "seed \(seed)")
        #expect(!entries.isEmpty)
        for entry in entries {
            let state = try #require(folded[entry.id])
            #expect(entry.clientID == state.clientID)
            #expect(entry.isDisabled == state.isDisabled, "seed \(seed), \(entry.id)")
            #expect(entry.secret == state.secret, "seed \(seed), \(entry.id)")
            let metadata = try #require(ClientEvent(name: "client.updated", fields: entry.metadata))
            #expect(state.metadata.map { metadata == .updated($0) } == true, "seed \(seed)")
        }
    }

    @Test func `a read model equals the folded streams of device keys and PINs`() async throws {
        let folded: [UUID: TenantMethods] = try fold("app_method.")
        var found: [UUID: Set<UUID?>] = [:]
        for owner in Set(history.appMethods.map(\.account)) {
            for entry in try await world.queries.ask(AppMethodView.ofAccount, owner, in: realm) {
                found[entry.owner, default: []].insert(entry.key)
            }
        }
        for (owner, state) in folded {
            let expected = Set(state.keys.map { Optional($0.id) } + (state.pin == nil ? [] : [nil]))
            #expect(found[owner, default: []] == expected, "seed \(seed), \(owner)")
        }
    }

    @Test func `a read model equals the folded streams of apps`() async throws {
        let folded: [UUID: App] = try fold("app.").filter { !($0.value as App).isDeleted }
        let entries = try await world.queries.ask(AppView.page, (nil, 10_000), in: realm)
        #expect(Set(entries.map(\.id)) == Set(folded.keys), "seed \(seed)")
        for entry in entries {
            let state = try #require(folded[entry.id])
            #expect(entry.slug == state.slug, "seed \(seed)")
            #expect(entry.name == state.name, "seed \(seed)")
            #expect(entry.settings == state.settings.overrides, "seed \(seed), \(entry.id)")
        }
    }

    @Test func `a read model equals the folded streams of web apps`() async throws {
        let folded: [UUID: WebApp] = try fold("web_app.").filter {
            !($0.value as WebApp).isRemoved
        }
        let queries = world.queries
        let entries = try await queries.ask(WebAppView.page, (nil, 10_000), in: realm)
        #expect(Set(entries.map(\.id)) == Set(folded.keys), "seed \(seed)")
        #expect(events.contains { $0.type.hasPrefix("web_app.") }, "seed \(seed)")
        for entry in entries {
            let card = try #require(folded[entry.id]?.card)
            #expect(entry.card == card, "seed \(seed)")
            #expect(try await queries.ask(WebAppView.byID, entry.id, in: realm) == entry)
            let named = try await queries.ask(WebAppView.bySlug, (card.slug, card.kind), in: realm)
            #expect(named == entry)
            guard let host = card.originHost else { continue }
            #expect(try await queries.ask(WebAppView.byOrigin, host, in: realm) == entry, "\(seed)")
        }
    }

    @Test func `a read model equals the folded streams of the realm`() async throws {
        let folded: [UUID: Realm] = try fold("realm.")
        let state = try #require(folded.values.first)
        let entry = try #require(try await world.queries.ask(RealmView.byName, in: realm))
        #expect(entry.isDisabled == state.isDisabled, "seed \(seed)")
        #expect(entry.settings == state.settings.overrides, "seed \(seed)")
    }

    @Test func `a read model equals the folded streams of accounts and sessions`() throws {
        let accounts: [UUID: Account] = try fold("account.").filter {
            !($0.value as Account).isDeleted
        }
        let rows = try world.superuser.executeOnce(
            """
            select account::text, mailbox::text, confirmed, disabled, stamp,
                moves, coalesce(extract(epoch from deletion_due)::bigint, 0),
                (select coalesce(string_agg(r.key || '=' || r.value, ' ' order by r.key), '')
                    from jsonb_each_text(removed) r)
            from urd.accounts where realm = 'one'
            """, Parameters())
        let actual = (0..<rows.count).map {
            "\(rows.text($0, 0)) \(rows.text($0, 1)) \(rows.bool($0, 2)) \(rows.bool($0, 3)) "
                + "\(rows.int64($0, 4)) \(rows.int64($0, 5)) \(rows.int64($0, 6)) "
                + rows.text($0, 7)
        }
        let wanted = accounts.map { id, account in
            let removed = account.removed.map { "\($0.key.name)=\($0.value)" }.sorted()
            return "\(id) \(account.mailbox?.description ?? "") \(account.isConfirmed) "
                + "\(account.isDisabled) \(account.stamp.number) \(account.stamp.moves) "
                + "\(account.deletionDue?.seconds ?? 0) "
                + removed.joined(separator: " ")
        }
        #expect(actual.sorted() == wanted.sorted(), "seed \(seed)")
        // An attempt that was refused is a stream, and no session.
        let sessions: [UUID: Session] = try fold("session.").filter {
            ($0.value as Session).terms != nil
        }
        let found = try world.superuser.executeOnce(
            """
            select session::text, generation, coalesce(ended, ''), coalesce(account::text, '')
            from urd.sessions where realm = 'one'
            """, Parameters())
        let shown = (0..<found.count).map {
            "\(found.text($0, 0)) \(found.int32($0, 1)) \(found.text($0, 2)) \(found.text($0, 3))"
        }
        let expected = sessions.map { id, session in
            "\(id) \(session.generation) \(session.end?.rawValue ?? "") "
                + "\(session.terms?.account?.description ?? "")"
        }
        #expect(shown.sorted() == expected.sorted(), "seed \(seed)")
    }

    @Test func `a read model equals the folded streams of scheduled deletions`() async throws {
        let folded: [UUID: Account] = try fold("account.")
        let waiting = folded.filter { _, account in
            !account.isErased && (account.isDeleted || account.deletionDue != nil)
        }
        try follow("deletions")
        let entries = try await Deletions(world.pool).due(
            at: Timestamp(seconds: 1_900_000_000), limit: 10_000)
        #expect(Set(entries.map(\.account)) == Set(waiting.keys), "seed \(seed)")
        #expect(entries.map(\.due) == entries.map(\.due).sorted())
        for entry in entries {
            guard let account = waiting[entry.account], !account.isDeleted else { continue }
            #expect(entry.due == account.deletionDue, "seed \(seed)")
        }
    }

    /// Each attempt of a person, and how the session ended: by itself, or with all of its account.
    @Test func `a read model equals the folded streams of installations not yet admitted`()
        async throws
    {
        try follow("pending_installations")
        let late = Timestamp(seconds: 4_000_000_000)
        let folded: [UUID: Client] = try fold("client.").filter {
            let client = $0.value as Client
            return !client.isDeleted && !client.isAdopted
        }
        let registered = events.filter {
            $0.type == "client.registered" && $0.data.contains("urn:urd:flagship")
        }
        let waiting = Set(registered.map(\.stream)).intersection(folded.keys)
        let pending = PendingInstallations(world.pool)
        let found = try await pending.page(before: late, limit: 10_000)
        #expect(Set(found.map(\.client)) == waiting, "seed \(seed)")
        #expect(!waiting.isEmpty, "seed \(seed)")
        #expect(found.allSatisfy { $0.realm == realm })
        #expect(try await pending.page(before: late, limit: 1).count == 1)
        let early = try await pending.page(before: Timestamp(seconds: 1), limit: 10)
        #expect(early.isEmpty)
    }

    @Test func `a read model equals the folded streams of the login history`() async throws {
        var expected: [String] = []
        for (index, event) in events.enumerated()
        where event.type.hasPrefix("session.") || event.type.hasPrefix("browser.") {
            let fields = try #require(try JSON.parse(Array(event.data.utf8)).object)
            let account = fields["account"]?.string
            switch event.type {
            case "session.opened", "browser.opened":
                guard let account else { continue }
                let isMailboxAlone = (fields["amr"]?.array ?? []).compactMap {
                    $0.string.flatMap(AuthenticationFactor.init)
                }.restOnMailbox
                let end = events[(index + 1)...].first { later in
                    later.stream == event.stream && later.type.hasSuffix(".ended")
                        || later.stream.description == account
                            && (Self.ends.contains(later.type) || later.removesAccess(from: fields)
                                || isMailboxAlone && later.type == "account.mailbox_moved")
                }
                expected.append("\(index + 1) \(account) \(event.stream) \(Self.end(end))")
            case "session.refused", "browser.refused":
                expected.append("\(index + 1) \(account ?? "") refused")
            case "session.ended":
                let began = events.first { $0.stream == event.stream }
                guard ["reuse", "code_reuse"].contains(fields["reason"]?.string), let began,
                    let account = try JSON.parse(Array(began.data.utf8)).object?["account"]?.string
                else { continue }
                expected.append("\(index + 1) \(account) refused")
            default: break
            }
        }
        #expect(expected.count > 10)
        let entries = try await history()
        let shown = entries.map { entry in
            let account = entry.account?.description ?? ""
            guard let session = entry.session else {
                return "\(entry.position) \(account) refused"
            }
            let end = entry.endReason.map { Self.event(ofReason: $0) } ?? ""
            return "\(entry.position) \(account) \(session) \(end)"
        }
        let wanted = expected.map { line in
            line.replacing("account.deletion_scheduled", with: "account.deleted")
                .replacing("account.mailbox_moved", with: "account.mailbox_changed")
        }
        #expect(shown.sorted() == wanted.sorted(), "seed \(seed)")
    }

    private static let ends: Set<String> = [
        "account.disabled", "account.stamp_rotated", "account.mailbox_changed",
        "account.deletion_scheduled", "account.deleted",
    ]

    private static func end(_ event: Happening?) -> String {
        guard let event, event.type == "account.access_removed" else { return event?.type ?? "" }
        return event.data.contains("client") ? event.type : "session.ended"
    }

    private static func event(ofReason reason: String) -> String {
        switch reason {
        case "withdrawn": "account.access_removed"
        case "disabled", "mailbox_changed", "deleted": "account.\(reason)"
        case "signed_out_everywhere": "account.stamp_rotated"
        case "signed_out": "browser.ended"
        default: "session.ended"
        }
    }

    /// What follows the log does so here and now.
    private func follow(_ name: String) throws {
        let build = try #require(try world.live(name))
        var step = try Step.project("one", name, build, page: 100, world.owner)
        while let now = step, now.position < now.head, now.halted == nil {
            step = try Step.project("one", name, build, page: 100, world.owner)
        }
    }

    /// All of it, page by page.
    private func history() async throws -> [LoginView] {
        try follow("login_history")
        var entries: [LoginView] = []
        var place: LoginPlace?
        repeat {
            let page = try await world.queries.ask(
                LoginView.history, (LoginSelection(), after: place, limit: 7), in: realm)
            entries += page
            place = page.last.map { LoginPlace(at: $0.at, position: $0.position) }
        } while place != nil
        #expect(entries.map(\.at) == entries.map(\.at).sorted().reversed())
        return entries
    }

    @Test func `a read model equals the folded streams of passkeys`() async throws {
        let folded: [UUID: Passkey] = try fold("passkey.").filter { entry in
            let passkey: Passkey = entry.value
            return passkey.enrolled != nil && !passkey.isRemoved
        }
        // The last may have been removed, by chance.
        #expect(events.contains { $0.type.hasPrefix("passkey.") }, "seed \(seed)")
        for (id, passkey) in folded {
            let enrolled = try #require(passkey.enrolled)
            let credential = enrolled.key.id
            let entry = try #require(
                try await world.queries.ask(PasskeyView.byCredential, credential, in: realm))
            #expect(entry.id == id && entry.account == enrolled.account, "seed \(seed)")
            #expect(entry.publicKey == enrolled.key.publicKey)
            #expect(entry.relyingParty == enrolled.relyingParty)
            #expect(entry.isBackupEligible == enrolled.key.isBackupEligible)
            #expect(entry.transports == enrolled.key.transports)
            #expect(entry.counter == passkey.counter, "seed \(seed), \(id)")
            let names = events.filter { $0.stream == id && $0.type == "passkey.renamed" }
            #expect(entry.named == names.last?.version, "seed \(seed), \(id)")
            let uses = events.filter { $0.stream == id && $0.type == "passkey.used" }
            #expect(entry.usedAt?.seconds == uses.last?.at.seconds, "seed \(seed), \(id)")
        }
        // At the same time, so that several are asked for in one query.
        let accounts = Set(
            folded.values.compactMap { $0.enrolled?.account } + [UUID(high: 7, low: 7)])
        try await withThrowingTaskGroup(of: (UUID, [PasskeyView]).self) { group in
            for account in accounts {
                let (queries, realm) = (world.queries, realm)
                group.addTask {
                    (account, try await queries.ask(PasskeyView.ofAccount, account, in: realm))
                }
            }
            for try await (account, found) in group {
                let wanted = folded.filter { $0.value.enrolled?.account == account }.map(\.key)
                #expect(found.map(\.id) == wanted.sorted().reversed(), "seed \(seed)")
            }
        }
        let rows = try world.superuser.executeOnce(
            "select count(*) from urd.passkeys where realm = 'one'", Parameters())
        #expect(rows.int64(0, 0) == Int64(folded.count), "seed \(seed)")
    }

    /// Hosts and keys are looked up in the system realm; their rows are the same in any.
    @Test func `a read model equals the folded streams of hosts and keys`() throws {
        let hosts: [UUID: Host] = try fold("host.").filter { ($0.value as Host).realm != nil }
        let expected = hosts.values.map { "\($0.name) \($0.realm?.name ?? "")" }.sorted()
        let found = try world.superuser.executeOnce(
            "select host || ' ' || leads_to from urd.hosts where realm = 'one'", Parameters())
        #expect((0..<found.count).map { found.text($0, 0) }.sorted() == expected, "seed \(seed)")
        let keys: [UUID: AdminKey] = try fold("admin_key.")
        let rows = try world.superuser.executeOnce(
            """
            select name, digest, revoked_at is not null, realms is null,
                coalesce(array_to_string(permissions, ' '), '-')
            from urd.admin_keys
            where realm = 'one'
            """, Parameters())
        let actual = (0..<rows.count).map {
            "\(rows.text($0, 0)) \(rows.text($0, 1)) \(rows.bool($0, 2)) \(rows.bool($0, 3)) "
                + rows.text($0, 4)
        }
        let wanted = keys.values.map { key in
            let digest = key.digest.map { Base64URL.encode($0.bytes) } ?? ""
            // As they stand in the event, which is not sorted.
            let may = key.permissions == .all ? "-" : "events.read analyst"
            return "\(key.name) \(digest) \(key.isRevoked) \(key.scope == .all) \(may)"
        }
        #expect(actual.sorted() == wanted.sorted(), "seed \(seed)")
    }
}

extension `A read model says the same as the folded streams` {
    @Test func `a read model equals the folded streams of browsers`() async throws {
        let folded: [UUID: BrowserSession] = try fold("browser.").filter {
            ($0.value as BrowserSession).terms != nil
        }
        #expect(!folded.isEmpty)
        let accounts: [UUID: Account] = try fold("account.")
        let realms: [UUID: Realm] = try fold("realm.")
        let isClosed = realms.values.contains { $0.isDisabled }
        let queries = world.queries
        let now = Timestamp(seconds: 1_800_000_100)
        for (id, session) in folded {
            let entry = try #require(try await queries.ask(BrowserSessionView.byID, id, in: realm))
            let terms = try #require(session.terms)
            let account = accounts[terms.account]
            let isOut =
                account.map {
                    $0.isDisabled || $0.isDeleted || $0.deletionDue != nil
                        || !$0.stamp.holds(terms.stamp, terms.factors)
                } ?? true
            #expect(entry.terms == terms, "seed \(seed)")
            #expect(
                entry.isOver == (session.end != nil || isOut || isClosed), "seed \(seed), \(id)")
            let listed = try await queries.ask(
                BrowserSessionView.ofAccount, (terms.account, now, nil, 100), in: realm)
            #expect(
                listed.contains { $0.id == id } == (session.end == nil && !isOut),
                "seed \(seed), \(id)")
            let behind = try await queries.ask(
                BrowserSessionView.ofAccount, (terms.account, now, id, 100), in: realm)
            #expect(behind == listed.filter { $0.id < id }, "seed \(seed), \(id)")
        }
        let none = UUID(high: 1, low: 1)
        #expect(try await queries.ask(BrowserSessionView.byID, none, in: realm) == nil)
    }
}
