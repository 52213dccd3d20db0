internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// How a realm's owner goes to the services from which konnectors fetch, and comes back to the app
/// that sent them.
enum ConnectionRoutes {
    static let table: [Route<RealmContext>] = [
        start, change("reconnect", .reconnect), change("manage", .manage), back,
    ]

    private static let konnector = Parameter(
        "konnector", in: .path, .text(1...128), "Slug of the konnector.", example: "bank")
    private static let asked = [
        konnector,
        Parameter(
            "session_code", in: .query, .text(0...128), "Session code that signs the browser in."),
        Parameter("slug", in: .query, .text(0...128), "Slug of the app to return to."),
        Parameter("state", in: .query, .text(0...512), "Value that is returned to the app."),
    ]
    private static let refusals: [ProblemKind] =
        Page.refusals + [.invalidRequest, .forbidden, .noSuchApp]

    private static let start = Route<RealmContext>(
        .get, "/accounts/{konnector}/start", id: "startConnection", tag: "Flagship",
        summary: "Redirects to a konnector's provider.", right: .nothing, voice: .page,
        parameters: asked, answer: .page, refusals: refusals
    ) { call throws(Problem) in
        try await call.begin(.start, nil)
    }

    private static func change(_ word: String, _ step: ConnectionStep) -> Route<RealmContext> {
        Route<RealmContext>(
            .get, PathTemplate(stringLiteral: "/accounts/{konnector}/{connection}/\(word)"),
            id: "\(word)Connection", tag: "Flagship",
            summary: "Redirects to a konnector's provider again.", right: .nothing, voice: .page,
            parameters: asked + [
                Parameter(
                    "connection", in: .path, .text(1...64), "Connection id of the account in apps.")
            ], answer: .page, refusals: refusals
        ) { call throws(Problem) in
            guard let id = call.text("connection").flatMap(ConnectionName.read) else {
                throw Problem(.noSuchApp)
            }
            return try await call.begin(step, id)
        }
    }

    private static let back = Route<RealmContext>(
        .get, "/accounts/{konnector}/redirect", id: "finishConnection", tag: "Flagship",
        summary: "Receives the redirect of a provider for a konnector.", right: .nothing,
        voice: .page,
        parameters: [
            konnector,
            Parameter(
                "state", in: .query, .text(0...128), "The `state` of the request to the provider."),
            Parameter(
                "connection_id", in: .query, .text(0...200),
                "Connection id of the account at the provider."),
            Parameter(
                "error", in: .query, .text(0...200), "Error code, if there is no connection."),
        ], answer: .page, refusals: refusals
    ) { call throws(Problem) in try await call.finish() }
}

extension Call<RealmContext> {
    private static let longestVisit: Int64 = ProviderVisit.patience

    fileprivate func begin(
        _ step: ConnectionStep, _ known: UUID?
    ) async throws(Problem) -> Response {
        let visit = try await PageRequest(self).visit()
        if let code = text("session_code"), !code.isEmpty {
            return try await signIn(
                bySessionCode: code, visit, most: Self.longestVisit, place: placeWithoutCode)
        }
        guard let browser = visit.browser else { throw Problem(.forbidden) }
        let konnector = try await webApp(try required("konnector"), .konnector)
        let app = try await webApp(orDefault: text("slug").flatMap { $0.isEmpty ? nil : $0 })
        guard let address = konnector.card.address(of: step) else { throw Problem(.noSuchApp) }
        let id = context.newID()
        let refusal = try await Commands(self).attempt(
            BeginConnection(
                id: id, konnector: konnector.id, app: app.id, browser: browser.id, step: step,
                connection: known, state: text("state").flatMap { $0.isEmpty ? nil : $0 },
                now: context.clock.now()), as: .browser(browser))
        if let refusal { throw refusal.problem }
        var pairs: [Form.Pair] = [
            ("state", context.mint.connectionState(id)),
            ("redirect_uri", "\(context.place.issuer)/accounts/\(konnector.card.slug)/redirect"),
        ]
        if let known,
            case .connected(let name?)? = try await RealmLookups(context).folded(
                ProviderVisit.self, known
            ).outcome
        {
            pairs.append(("connection_id", name))
        }
        return .seeOther(address + (address.utf8.contains(0x3F) ? "&" : "?") + Form.encode(pairs))
    }

    fileprivate func finish() async throws(Problem) -> Response {
        guard let browser = try await BrowserSessions(self).current() else {
            throw Problem(.forbidden)
        }
        let konnector = try await webApp(try required("konnector"), .konnector)
        guard let id = context.mint.readConnectionState(text("state") ?? "") else {
            throw Problem(.invalidRequest, "The state is not valid")
        }
        let refusal = try await Commands(self).attempt(
            FinishConnection(
                id: id, konnector: konnector.id, browser: browser.id, outcome: shownOutcome,
                now: context.clock.now()), as: .browser(browser))
        if let refusal { throw refusal.problem }
        let connection = try await RealmLookups(context).folded(ProviderVisit.self, id)
        guard let terms = connection.terms, let outcome = connection.outcome,
            let app = try await RealmLookups(context).webApp(terms.app)
        else { throw Problem(.noSuchApp) }
        var pairs: [Form.Pair] = []
        switch outcome {
        case .connected(let name):
            pairs.append(("account", ConnectionName.text(terms.connection ?? id)))
            if let name { pairs.append(("connection_id", name)) }
        case .failed(let reason): pairs.append(("error", reason))
        }
        if let state = terms.state { pairs.append(("state", state)) }
        return .seeOther("\(webAppAddress(of: app))/?\(Form.encode(pairs))")
    }

    /// What a provider says is for the app: nothing goes on that is not in so many plain letters.
    private var shownOutcome: ConnectionOutcome {
        if let error = text("error"), !error.isEmpty {
            let isPlain = error.utf8.count <= 64 && error.utf8.allSatisfy(Self.isPlain)
            return .failed(isPlain ? error : "unknown_error")
        }
        guard let name = text("connection_id"), !name.isEmpty, name.utf8.allSatisfy(Self.isPlain)
        else { return .connected(nil) }
        return .connected(name)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
            || (0x61...0x7A).contains(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
    }

    private var placeWithoutCode: String {
        let pairs = request.query.flatMap { Form.parse(Array($0.utf8)) } ?? []
        let rest = pairs.filter { $0.name != "session_code" }
        return rest.isEmpty ? request.path : "\(request.path)?\(Form.encode(rest))"
    }
}

extension TokenMint {
    func connectionState(_ id: UUID) -> String { named(.connectionState, id) }

    func readConnectionState(_ text: String) -> UUID? { readNamed(text, .connectionState) }
}

extension BeginConnection.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notSignedIn: Problem(.forbidden)
        case .noKonnector, .noApp, .noConnection: Problem(.noSuchApp)
        }
    }
}

extension FinishConnection.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notSignedIn: Problem(.forbidden)
        case .unknown, .over: Problem(.invalidRequest, "The state is not valid")
        }
    }
}

/// What apps of the profile call an account at a provider: 32 hexadecimal digits. The dashed form, which they
/// were given before, is read as well.
enum ConnectionName {
    static func text(_ id: UUID) -> String { Hex.encode(id.bytes) }

    static func read(_ text: String) -> UUID? {
        guard text.utf8.count == 32 else { return UUID(text) }
        return Hex.decode(text).flatMap { UUID(bytes: $0) }
    }
}
