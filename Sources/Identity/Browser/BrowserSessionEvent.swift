public import EventSourcing
public import JSON
public import Values

/// What happens to a browser's session: one sign-in on a page.
public enum BrowserSessionEvent: FormedEvent {
    case opened(BrowserTerms)
    case ended(BrowserSessionEnd)
    /// An attempt that opened none: it has the name that the session would have had.
    case refused(RefusedBrowser)

    package enum Form {
        package static let opened = EventForm(
            "browser.opened", .services, .signedIn(.browser),
            "The person signed in with a browser.", .terms, make: BrowserSessionEvent.opened)
        package static let ended = EventForm(
            "browser.ended", .services, .sessionEnded(.browser), "The browser session ended.",
            .choice("reason", "Reason for which the session ended."),
            make: BrowserSessionEvent.ended)
        package static let refused = EventForm(
            "browser.refused", .audit, .signInRefused, "A sign-in with a browser was refused.",
            .refused, make: BrowserSessionEvent.refused)
    }

    public static let forms: EventForms<Self> = [Form.opened, Form.ended, Form.refused]

    public var subject: UUID? {
        switch self {
        case .opened(let terms): terms.account
        case .refused(let attempt): attempt.account
        case .ended: nil
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .opened(let terms): Form.opened(terms)
        case .ended(let reason): Form.ended(reason)
        case .refused(let attempt): Form.refused(attempt)
        }
    }
}

extension BrowserTerms {
    /// Reads what the log or a read model holds.
    public init?(recorded fields: JSONObject) {
        guard let terms = try? Field<Self>.terms.read(fields) else { return nil }
        self = terms
    }
}

extension Field<BrowserTerms> {
    fileprivate static let terms = record(
        .account, .stamp, .optional(.app), .way("How the person signed in."), .factors,
        .digest("digest", "Digest of the session cookie."),
        .time("opened_at", "Time at which the session was opened."), .expiresAt,
        .optional(
            .uuid("line", "First of the sessions that this browser had one after the other.")),
        .optional(.webApp),
        .unless(false, .flag("long_run", "Whether the person asked to stay signed in.")), .opener,
        make: {
            var terms = BrowserTerms(
                account: $0, stamp: $1, app: $2, method: $3.0, factors: $4, digest: $5,
                openedAt: $6, expiresAt: $7, from: $3.1)
            (terms.line, terms.webApp, terms.isLong, terms.opener) = ($8, $9, $10, $11)
            return terms
        },
        take: {
            (
                $0.account, $0.stamp, $0.app, ($0.method, $0.from), $0.factors, $0.digest,
                $0.openedAt, $0.expiresAt, $0.line, $0.webApp, $0.isLong, $0.opener
            )
        })
}

extension Field<RefusedBrowser> {
    fileprivate static let refused = record(
        .way("How the person tried to sign in."), .text("reason", "Reason of the refusal."),
        .optional(.account), .optional(.app),
        make: { RefusedBrowser(method: $0.0, reason: $1, account: $2, app: $3, from: $0.1) },
        take: { (($0.method, $0.from), $0.reason, $0.account, $0.app) })
}
