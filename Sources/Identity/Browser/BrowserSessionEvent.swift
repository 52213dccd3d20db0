public import EventSourcing
public import JSON
public import Values

/// What happens to a browser's session: one sign-in on a page.
public enum BrowserSessionEvent: Event {
    case opened(BrowserTerms)
    case ended(BrowserSessionEnd)
    /// An attempt that opened none: it has the name that the session would have had.
    case refused(RefusedBrowser)

    public static let catalogue: [EventShape] = [
        EventShape(
            "browser.opened", .services, "The person signed in with a browser.",
            [
                .account, .stamp, .moves, .removals, .app,
                BrowserMethod.field("How the person signed in."),
                .factors,
                .bytes("digest", "Digest of the session cookie.", .neverLeaves(.plain)),
                .time("opened_at", "When the session was opened."), .expiresAt,
                .uuid("line", "First of the sessions that this browser had one after the other.")
                    .optional,
                .webApp,
                .flag("long_run", "Whether the person asked to stay signed in.").optional,
            ] + Opener.eventFields, SignInPlace.openedFields),
        EventShape(
            "browser.ended", .services, "The browser session ended.",
            [
                .choice("reason", BrowserSessionEnd.self, "Why it ended.")
            ]),
        EventShape(
            "browser.refused", .audit, "A sign-in with a browser was refused.",
            [
                BrowserMethod.field("How the person tried to sign in."),
                .text("reason", "Why it was refused."),
                .account.optional, .app,
            ], SignInPlace.openedFields),
    ]

    public var name: String {
        switch self {
        case .opened: "browser.opened"
        case .ended: "browser.ended"
        case .refused: "browser.refused"
        }
    }

    public var subject: UUID? {
        switch self {
        case .opened(let terms): terms.account
        case .refused(let attempt): attempt.account
        case .ended: nil
        }
    }

    public var fields: JSONObject {
        switch self {
        case .opened(let terms): terms.fields
        case .ended(let reason): ["reason": .string(reason.rawValue)]
        case .refused(let refused): refused.fields
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "browser.opened":
            guard let terms = BrowserTerms(recorded: fields) else { return nil }
            self = .opened(terms)
        case "browser.ended":
            guard let reason: BrowserSessionEnd = fields.choice("reason") else { return nil }
            self = .ended(reason)
        case "browser.refused":
            guard let refused = RefusedBrowser(recorded: fields) else { return nil }
            self = .refused(refused)
        default: return nil
        }
    }
}

extension BrowserTerms {
    var fields: JSONObject {
        var fields: JSONObject = [
            "account": .uuid(account),
            "method": .string(method.recorded(from: from)), "amr": .texts(factors.map(\.rawValue)),
            "digest": .string(digest.base64URL), "opened_at": .integer(openedAt.seconds),
            "expires_at": .integer(expiresAt.seconds),
        ]
        fields.setStamp(stamp)
        if let opener { fields.merge(opener.fields) { own, _ in own } }
        fields["app"] = app.map { .uuid($0) }
        fields["line"] = line.map { .uuid($0) }
        fields["web_app"] = webApp.map { .uuid($0) }
        fields["long_run"] = isLong ? true : nil
        return fields.merging(from.fields) { own, _ in own }
    }

    /// Reads what the log or a read model holds.
    public init?(recorded fields: JSONObject) {
        guard let account = fields.uuid("account"), let stamp = fields.stamp,
            let method = BrowserMethod(recorded: fields),
            let factors = fields.texts("amr"), let digest = fields.digest("digest"),
            let openedAt = fields.instant("opened_at"),
            let expiresAt = fields.instant("expires_at")
        else { return nil }
        self.init(
            account: account, stamp: stamp, app: fields.uuid("app"),
            method: method, factors: factors.compactMap(AuthenticationFactor.init),
            digest: digest, openedAt: openedAt, expiresAt: expiresAt,
            from: SignInPlace(recorded: fields))
        line = fields.uuid("line")
        webApp = fields.uuid("web_app")
        isLong = fields["long_run"]?.bool ?? false
        opener = Opener(recorded: fields)
    }
}

extension RefusedBrowser {
    var fields: JSONObject {
        var fields = from.fields
        fields["method"] = .string(method.recorded(from: from))
        fields["reason"] = .string(reason)
        fields["account"] = account.map { .uuid($0) }
        fields["app"] = app.map { .uuid($0) }
        return fields
    }

    init?(recorded fields: JSONObject) {
        guard let method = BrowserMethod(recorded: fields),
            let reason = fields["reason"]?.string
        else { return nil }
        self.init(
            method: method, reason: reason, account: fields.uuid("account"),
            app: fields.uuid("app"), from: SignInPlace(recorded: fields))
    }
}
