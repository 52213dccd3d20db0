import HTML
import Values

/// What a mail says, ready to be sent: its subject and its two bodies.
public struct MailContent: Sendable, Hashable {
    public let subject: String
    public let text: String
    public let html: String
    public let language: MailLanguage
}

/// A realm's mails: our words in its languages, with its look and its own words.
public struct MailTemplates: Sendable {
    public struct Key: Sendable, Hashable {
        public let kind: MailKind.Name
        public let language: MailLanguage

        public init(_ kind: MailKind.Name, _ language: MailLanguage) {
            self.kind = kind
            self.language = language
        }
    }

    public var branding: Branding
    public var overrides: [Key: MailOverride]

    public init(branding: Branding, overrides: [Key: MailOverride] = [:]) {
        self.branding = branding
        self.overrides = overrides
    }

    /// - Parameter displayName: the reader's name for themselves; a name that could be an
    ///   advertisement to a third party is left out.
    public func content(
        of kind: MailKind, in language: MailLanguage, displayName: String? = nil
    ) -> MailContent {
        let ours: MailText =
            switch language {
            case .english: .english(kind.name)
            case .german: .german(kind.name)
            }
        let text = ours.overridden(by: overrides[Key(kind.name, language)])
        let name = personName(displayName)
        let values = MailValues(kind, language, productName: branding.productName, name: name)
        let mail = FilledMail(
            subject: singleLine(values.fill(text[.subject]), maximum: 150),
            preview: singleLine(values.fill(text[.preview]), maximum: 150),
            heading: singleLine(values.fill(text[.heading]), maximum: 150),
            greeting: language.greeting(name),
            introduction: paragraphs(values.fill(text[.introduction])),
            highlight: highlight(kind, singleLine(values.fill(text[.button]), maximum: 60)),
            closing: paragraphs(values.fill(text[.closing])), branding: branding,
            language: language)
        return MailContent(
            subject: mail.subject, text: mail.text, html: mail.page.markup, language: language)
    }

    private func highlight(_ kind: MailKind, _ button: String) -> FilledMail.Highlight {
        switch kind {
        case .emailOtp(let code, _), .secondFactorCode(let code, _),
            .certificationCode(let code, _), .emailChangeCode(let code, _),
            .pinResetCode(let code, _):
            .code(singleLine(code, maximum: 64))
        case .magicLink(let link, _), .emailVerification(let link, _),
            .passphraseReset(let link, _), .ownerInvitation(let link),
            .accountDeletionAsked(let link, _):
            .link(link.url, button)
        case .passphraseHint(let hint): .code(singleLine(hint, maximum: 500))
        case .passkeyEnrolled, .passkeyRemoved, .providerConnected, .totpEnrolled, .totpRemoved,
            .passphraseSet, .pinSet,
            .passphraseRemoved, .passphraseGuessed, .totpGuessed, .addressChanged,
            .addressesChanged,
            .signedOutEverywhere,
            .accountDisabled, .accountDeletion, .deviceAdded, .deviceCertified, .notification,
            .subscriberFails, .subscriberStopped:
            .none
        }
    }
}

/// Lines of paragraphs, each cleaned.
private func paragraphs(_ text: String) -> [[String]] {
    var paragraphs: [[String]] = [[]]
    for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
        let line = singleLine(String(Substring(line)), maximum: 4000)
        if line.isEmpty {
            paragraphs.append([])
        } else {
            paragraphs[paragraphs.count - 1].append(line)
        }
    }
    return paragraphs.filter { !$0.isEmpty }
}

/// What the placeholders of one mail stand for.
private struct MailValues {
    private var values: [Placeholder: String]

    init(_ kind: MailKind, _ language: MailLanguage, productName: String, name: String?) {
        values = [.product: productName, .name: name ?? language.nobody]
        switch kind {
        case .emailOtp(let code, let minutes), .secondFactorCode(let code, let minutes),
            .certificationCode(let code, let minutes), .emailChangeCode(let code, let minutes),
            .pinResetCode(let code, let minutes):
            values[.code] = singleLine(code, maximum: 64)
            values[.minutes] = language.minutes(minutes)
        case .ownerInvitation(let link): values[.url] = link.url
        case .passphraseHint(let hint): values[.hint] = singleLine(hint, maximum: 500)
        case .magicLink(let link, let minutes), .emailVerification(let link, let minutes),
            .passphraseReset(let link, let minutes):
            values[.url] = link.url
            values[.minutes] = language.minutes(minutes)
        case .providerConnected(let name, let moment):
            values[.device] = personName(name) ?? "OpenID"
            values[.time] = language.time(moment)
        case .passkeyEnrolled(let device, let moment), .passkeyRemoved(let device, let moment):
            values[.device] = personName(device) ?? "Passkey"
            values[.time] = language.time(moment)
        case .deviceAdded(let device, let moment), .deviceCertified(let device, let moment):
            values[.device] = personName(device) ?? "App"
            values[.time] = language.time(moment)
        case .totpEnrolled(let moment), .totpRemoved(let moment),
            .passphraseSet(let moment), .pinSet(let moment), .passphraseRemoved(let moment),
            .passphraseGuessed(let moment), .totpGuessed(let moment),
            .addressChanged(let moment), .addressesChanged(let moment),
            .signedOutEverywhere(let moment),
            .accountDisabled(let moment),
            .accountDeletion(let moment):
            values[.time] = language.time(moment)
        case .accountDeletionAsked(let link, let moment):
            values[.url] = link.url
            values[.time] = language.time(moment)
        case .notification(let title, let message, let sender):
            values[.title] = singleLine(title, maximum: 200)
            values[.message] = message
            values[.app] = personName(sender) ?? productName
        case .subscriberFails(let name, let moment), .subscriberStopped(let name, let moment):
            values[.app] = singleLine(name, maximum: 200)
            values[.time] = language.time(moment)
        }
    }

    func fill(_ text: String) -> String { Placeholder.fill(text, values) }
}

extension MailLanguage {
    /// The word that a greeting has in place of an unknown name.
    fileprivate var nobody: String {
        switch self {
        case .english: "there"
        case .german: "zusammen"
        }
    }

    fileprivate func greeting(_ name: String?) -> String {
        switch self {
        case .english: name.map { "Hello \($0)," } ?? "Hello,"
        case .german: name.map { "Guten Tag \($0)," } ?? "Guten Tag,"
        }
    }

    func minutes(_ count: Int) -> String {
        switch self {
        case .english: count == 1 ? "1 minute" : "\(count) minutes"
        case .german: count == 1 ? "1 Minute" : "\(count) Minuten"
        }
    }

    fileprivate func time(_ moment: Timestamp) -> String {
        let (date, time) = MailDate.parts(moment)
        return switch self {
        case .english: "\(date.joined(separator: "-")) at \(time.prefix(5)) UTC"
        case .german: "\(date.reversed().joined(separator: ".")) um \(time.prefix(5)) Uhr (UTC)"
        }
    }

    var linkHint: String {
        switch self {
        case .english: "If the button does not work, open this address in your browser:"
        case .german: "Geht die Schaltfläche nicht, öffnen Sie diese Adresse im Browser:"
        }
    }

    var automaticNote: String {
        switch self {
        case .english: "This mail was sent automatically."
        case .german: "Diese E-Mail wurde automatisch versendet."
        }
    }
}
