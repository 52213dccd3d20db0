internal import Cryptography
public import EventSourcing
public import HTTP
internal import Identity
internal import JSON
public import ReadModels
public import Values

/// What the admin API stands on.
public struct AdminContext: RouteContext {
    var commands: any CommandPort
    let queries: any QuestionPort
    let proofs: any LogProofQueries
    let standing:
        @Sendable (_ realm: RealmID, _ subject: UUID) async throws(LogFailure) -> SubjectStanding
    /// Destroys the key that seals a subject's personal data. Doing so again is no fault.
    let destroyKey: @Sendable (_ realm: RealmID, _ subject: UUID) async throws(LogFailure) -> Void
    /// Makes a key to sign tokens with, which may take a while.
    let makeSigningKey: TokenKeys.Generation
    /// What mail addresses are found by in a realm, and what secrets follow from.
    let mint: RealmContexts.Mints
    let upstream: Upstream
    /// Of those who follow realms on this node.
    let feeds: Feeds
    let deliveries: any WebhookDeliveries
    let feedCursors: any FeedCursors
    let cases: any CaseFiles
    let whatIfs: any WhatIfs
    let asOfBuilds: any AsOfBuilds
    /// Shows the time of no realm: for names alone.
    let now: @Sendable () -> Timestamp
    let time: RealmTime
    private let refused = RefusedKeys()
    /// The operator of a process whose user has the database and the master key in hand: they need
    /// no admin key.
    let `operator`: String?
    /// Nil where commands are no trial.
    var trialEffects: TrialEffects?

    public init(
        commands: any CommandPort, queries: any QuestionPort, proofs: any LogProofQueries,
        feeds: Feeds, now: @escaping @Sendable () -> Timestamp,
        passed: @escaping @Sendable () -> Duration,
        standing:
            @escaping @Sendable (RealmID, UUID) async throws(LogFailure) -> SubjectStanding,
        destroyKey: @escaping @Sendable (RealmID, UUID) async throws(LogFailure) -> Void = {
            _, _ throws(LogFailure) in throw .unavailable
        }, makeSigningKey: @escaping TokenKeys.Generation,
        mint: @escaping RealmContexts.Mints = { _ throws(LogFailure) in throw .unavailable },
        upstream: Upstream = Upstream(), deliveries: any WebhookDeliveries = NoDeliveries(),
        feedCursors: any FeedCursors, cases: any CaseFiles, whatIfs: any WhatIfs,
        asOfBuilds: any AsOfBuilds,
        operator: String? = nil
    ) {
        self.upstream = upstream
        self.feeds = feeds
        self.deliveries = deliveries
        self.feedCursors = feedCursors
        self.cases = cases
        self.whatIfs = whatIfs
        self.asOfBuilds = asOfBuilds
        self.makeSigningKey = makeSigningKey
        self.mint = mint
        self.standing = standing
        self.destroyKey = destroyKey
        self.operator = `operator`
        self.commands = commands
        self.queries = queries
        self.proofs = proofs
        self.now = now
        time = RealmTime(
            clock: now, passed: passed, latest: { commands.events.latestTime(in: $0) })
    }

    /// Asks the read models.
    func ask<Input, Answer>(
        _ question: Question<Input, Answer>, _ input: Input, in realm: RealmID
    ) async throws(Problem) -> Answer {
        try await reading { () throws(LogFailure) in
            try await queries.ask(question, input, in: realm)
        }
    }

    /// Lets a caller in by their admin key.
    ///
    /// A caller without a right to a realm gets 403, whether the realm exists or not: the answer is
    /// given before anything is looked up, so it says nothing about other people's realms. Only
    /// keys of all realms ever see 404 for a realm.
    public func admit(
        _ request: Request, to route: Outline, realm: RealmID?, client: ClientCredentials?
    ) async throws(Problem) -> Admin {
        if route.right == .nothing { return .nobody }
        if let name = `operator` { return .operator(name) }
        let key = try await authenticated(request)
        do throws(Problem) {
            try require(route.right, of: key, realm)
        } catch {
            try await record(.outOfScope, of: key.id, in: request)
            throw error
        }
        try await require(route.permission, of: key, in: request, field: nil)
        return .key(key)
    }

    /// Lets a limited key use a parameter only with the permission that it needs on top of its route's, and no
    /// caller write down a private key.
    public func answer(
        _ call: Call<Self>, by handler: Route<Self>.Handler
    ) async throws(Problem) -> Response {
        if case .key(let key) = call.caller {
            for parameter in call.outline.parameters {
                guard let needed = parameter.permission, call.asks(parameter) else { continue }
                try await require(needed, of: key, in: call.request, field: parameter.name)
            }
        }
        try DisclosedKeys.check(call.parameters, of: call.outline.id, as: .invalidParameter)
        try DisclosedKeys.check(call.body.object ?? [:], of: call.outline.id)
        return try await handler(call)
    }

    /// Nil is what no permission is enough for.
    fileprivate func require(
        _ permission: AdminPermission?, of key: AdminKeyView, in request: Request, field: String?
    ) async throws(Problem) {
        if key.permissions.allow(permission) { return }
        try await record(.notPermitted, of: key.id, in: request)
        throw Problem(
            .forbidden,
            permission.map { "The key lacks the permission \($0.rawValue)." }
                ?? "Only a key that is not limited to permissions may do this.", field: field)
    }

    private func require(
        _ right: Right, of key: AdminKeyView, _ realm: RealmID?
    ) throws(Problem) {
        switch right {
        case .nothing: break
        // Clients and accounts are a realm's: no route of this table asks for them.
        case .client, .account, .bearer, .service: throw Problem(.forbidden)
        case .everything:
            guard key.scope == .all else { throw Problem(.forbidden) }
        case .realm:
            guard key.scope.opens(realm) else { throw Problem(.forbidden) }
        }
    }

    private func authenticated(_ request: Request) async throws(Problem) -> AdminKeyView {
        let lines = request.headers.all("Authorization")
        guard lines.count == 1,
            let text = AuthorizationLine.text(of: lines[0], by: "bearer"),
            // A key of the administration has one spelling.
            lines[0].utf8.count == "bearer ".utf8.count + text.utf8.count,
            let key = BearerKey(text)
        else {
            throw Problem(.unauthenticated)
        }
        let known = try await ask(AdminKeyView.byID, key.id, in: .system)
        // An unknown key is compared as well, so that time does not tell which ids exist.
        let isRight = constantTimeEqual(
            key.digest(limitedTo: known?.permissions ?? .all), known?.digest ?? noDigest)
        guard let known else {
            try await record(.unknown, of: key.id, in: request)
            throw Problem(.unauthenticated)
        }
        guard isRight, known.revokedAt == nil else {
            try await record(isRight ? .revoked : .wrongSecret, of: key.id, in: request)
            throw Problem(.unauthenticated)
        }
        return known
    }

    /// A refused admin key may be a guess, or belong to a program that was forgotten. Either is on record in
    /// the system realm, a limited number of times an hour.
    private func record(
        _ reason: AdminRefusalReason, of key: UUID, in request: Request
    ) async throws(Problem) {
        let now = time.now(in: .system)
        try await refused.record(
            RecordRefusedKey(key: key, reason: reason, now: now),
            by: Origin("anonymous", of: request, from: request.source, at: now), commands)
    }
}

extension Call<AdminContext> {
    /// A limited key needs this permission for what the field asks, beside that of its route.
    func requirePermission(_ permission: AdminPermission, for field: String) async throws(Problem) {
        guard case .key(let key) = caller else { return }
        try await context.require(permission, of: key, in: request, field: field)
    }

    /// A flag that is false asks for nothing.
    fileprivate func asks(_ parameter: Parameter) -> Bool {
        parameters[parameter.name].map { $0.bool != false } ?? false
    }
}

extension AdminScope {
    /// A name that no realm can have is open only to callers with a right to all realms.
    fileprivate func opens(_ realm: RealmID?) -> Bool {
        switch self {
        case .all: true
        case .only: realm.map(allows) ?? false
        }
    }
}

private let noDigest = [UInt8](repeating: 0, count: SHA256.digestLength)

/// The caller of the admin API.
public enum Admin: Sendable {
    case nobody
    case key(AdminKeyView)
    case `operator`(String)

    /// The caller as the log names them.
    var actor: String {
        switch self {
        case .nobody: "system"
        case .key(let key): "admin:\(key.id)"
        case .operator(let name): "operator:\(name)"
        }
    }
}
