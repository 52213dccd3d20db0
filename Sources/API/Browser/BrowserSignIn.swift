internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import Values

/// How a form of the sign-in ended.
enum SignInEnd: Sendable {
    case signedIn(Response)
    case refused(GrantRefusal)
}

/// Signs users in with their browser.
struct BrowserSignIns {
    private let call: Call<RealmContext>

    init(_ call: Call<RealmContext>) { self.call = call }

    private var context: RealmContext { call.context }

    /// Signs a user in with this browser, always with a new session and new secrets (session
    /// fixation).
    func signIn<Shown: SignInProof>(
        _ shown: Shown, by method: BrowserMethod, _ visit: PageVisit, to returnTarget: ReturnTarget,
        most: Int64? = nil, isLong: Bool = false, place: String? = nil
    ) async throws(Problem) -> SignInEnd {
        switch try await open(shown, by: method, visit, most: most, isLong: isLong) {
        case .failure(let refusal): return .refused(refusal)
        case .success(let opened):
            let target = place ?? returnTarget.target
            var response = Response.seeOther(
                opened.isAnother ? ReturnTarget.asAnother(target) : target)
            response.headers.append("Set-Cookie", opened.cookie)
            return .signedIn(response)
        }
    }

    /// A browser that a user has just signed in with.
    struct Opened {
        /// What its session cookie holds, and the cookie's line.
        let secret: String
        let cookie: String
        /// Another user was signed in before.
        let isAnother: Bool
    }

    /// The same, where it does not end with a redirect of the pages.
    func open<Shown: SignInProof>(
        _ shown: Shown, by method: BrowserMethod, _ visit: PageVisit, most: Int64? = nil,
        isLong: Bool = false
    ) async throws(Problem) -> Result<Opened, GrantRefusal> {
        let secret = BrowserSecret(for: context.newID())
        guard let digest = context.mint.digest(of: secret) else { throw Problem(.internalError) }
        var command = SignInBrowser(
            shown, by: method, session: secret.session, digest: digest,
            replaced: visit.browser?.id, app: context.place.app,
            from: context.signInPlace(of: call.request),
            now: context.clock.now())
        command.most = most
        command.isLong = isLong
        command.webApp = context.place.webApp?.id
        var line: UUID?
        if let before = visit.browser {
            let first = try await SessionEnds(call).line(of: before)
            command.dependents = try await SessionEnds(call).ends(of: before.subject, from: first)
            line = first
        }
        let outcome: Result<OpenedBrowser, GrantRefusal>
        do throws(Problem) {
            outcome = try await Commands(call).dispatch(command, as: .anonymous)
        } catch {
            guard error.kind == .invalidGrant else { throw error }
            return .failure(.invalidCode)
        }
        switch outcome {
        case .failure(let refusal): return .failure(refusal)
        case .success(let opened):
            let isAnother = visit.browser.map { $0.subject != opened.account } ?? false
            if let before = visit.browser, let line, isAnother {
                // What was opened while the command was on its way. No code of that browser opens
                // anything from now on, so that this is all; an outage is waited out.
                try await SessionEnds(call).endSessions(
                    of: before.subject, from: line, by: .browser(before))
            }
            let text = secret.named(opened.session).text
            return .success(
                Opened(
                    secret: text,
                    cookie: PageCookie.session.line(
                        text,
                        seconds: opened.expiresAt.seconds - context.clock.now().seconds),
                    isAnother: isAnother))
        }
    }

    /// Has a code sent to a user who signs in or joins on a page. The outcome is not shown
    /// (account enumeration).
    /// - Parameters:
    ///   - id: of a code that is confirmed by a link, in the place of digits.
    ///   - app: in whose name the message comes, where that is not the place's.
    func sendCode(
        _ route: RequestOTP.Route, _ person: Person, by channel: Channel = .mail,
        invite: InviteCode? = nil, mayJoin: Bool, asLink id: UUID? = nil,
        countsSignUps: Bool = true, app: UUID? = nil
    ) async throws(Problem) {
        guard let address = channel == .mail ? person.email : person.phone else { return }
        let mailbox = context.mint.mailbox(address)
        let (code, mint) = (id ?? context.newID(), context.mint)
        let digest =
            id == nil
            ? mint.digest(ofCode: mint.code(code), for: mailbox)
            : mint.digest(ofMagicToken: mint.magicToken(code))
        guard let digest else { throw Problem(.internalError) }
        var command = RequestOTP(
            route: route, app: app ?? context.place.app, mailbox: mailbox, person: person,
            code: code,
            digest: digest, invite: invite.map(context.mint.invite), mayJoin: false,
            now: context.clock.now())
        command.isForPage = true
        command.channel = channel
        command.isReadable = { mint.digits(of: $0, for: mailbox) != nil }
        if id != nil { command.base = context.place.links }
        command.source = context.signInPlace(of: call.request).source
        let outcome = try await Commands(call).dispatch(command, as: .anonymous)
        // Only what would make an account counts as one more sign-up of its source.
        guard outcome == .nothing(.wouldJoin), mayJoin,
            !countsSignUps || RateCounter(call).allowsSignUp()
        else { return }
        command.mayJoin = true
        _ = try await Commands(call).dispatch(command, as: .anonymous)
    }
}
