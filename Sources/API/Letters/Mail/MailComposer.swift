public import EventSourcing
public import Identity
internal import JSON
internal import Mail
public import Values

/// Makes a mail out of the event that asks for it. What it says stands nowhere else: codes and links
/// follow from their ids under the realm's key, and the person is opened for the purpose.
public struct MailComposer: Sendable {
    /// What holds in a realm, or in one of its apps.
    public typealias SettingsInForce =
        @Sendable (_ realm: RealmID, _ app: UUID?) async throws(LogFailure) -> Settings

    private let rules: MailRules
    private let mint: RealmContexts.Mints
    private let events: any EventLog
    private let settings: SettingsInForce
    private let revision: TokenKeys.Revision
    private let known = RevisionCache<Place, Settings>(capacity: 4096)

    private struct Place: Hashable, Sendable {
        let realm: RealmID
        let app: UUID?
    }

    /// - Parameter revision: what is in force is kept until this moves.
    init(
        rules: MailRules, mint: @escaping RealmContexts.Mints, events: any EventLog,
        revision: @escaping TokenKeys.Revision, settings: @escaping SettingsInForce
    ) {
        self.rules = rules
        self.mint = mint
        self.events = events
        self.revision = revision
        self.settings = settings
    }

    private func settings(of realm: RealmID, _ app: UUID?) async throws(LogFailure) -> Settings {
        let place = Place(realm: realm, app: app)
        if let found = known.known(place, at: revision(realm)) { return found }
        let (settings, revision) = (settings, revision)
        return try await known.value(
            of: place, at: { revision(realm) },
            read: { () throws(LogFailure) in try await settings(realm, app) })
    }

    /// Nil where the recipient is gone, or there is nothing to say.
    ///
    /// - Parameter isLate: it was not made when it was asked for. A code or link that was replaced or used since is
    ///   not sent.
    public func letter(
        for event: Recorded, isLate: Bool = false
    ) async throws(LogFailure) -> Letter? {
        let realm = event.realm
        if isLate, try await SentProof.isOver(event, in: events) { return nil }
        let mint = try await mint(realm)
        guard let order = rules.order(for: event, mint),
            let person = try await person(of: order, event),
            let address = order.channel == .mail ? person.email : person.phone
        else { return nil }
        let settings = try await settings(of: realm, order.app)
        let language =
            person.language.flatMap { MailLanguage(tag: $0) }
            ?? MailLanguage(tag: settings[SettingCatalogue.language].rawValue) ?? .english
        guard order.channel == .mail else {
            return message(order, to: address, in: language, realm, settings)
        }
        let branding = Branding(
            productName: settings[SettingCatalogue.displayName],
            accent: settings[SettingCatalogue.accentColour].flatMap { Colour($0) } ?? .ink,
            logo: settings[SettingCatalogue.logoURL].flatMap { MailLink($0) },
            footer: settings[SettingCatalogue.mailFooter] ?? "")
        let content = MailTemplates(
            branding: branding, overrides: MailWords.overrides(of: settings)
        ).content(
            of: try await kind(of: order, event), in: language, displayName: person.firstName)
        return Letter(
            realm: realm, channel: .mail, otherChannels: [], to: address,
            from: settings[SettingCatalogue.mailFrom],
            fromName: settings[SettingCatalogue.mailFromName]
                ?? settings[SettingCatalogue.displayName],
            subject: content.subject, text: content.text, html: content.html,
            code: nil, language: content.language.rawValue, deadline: order.deadline)
    }

    /// Of what a phone is told its code or its link alone matters.
    private func message(
        _ order: MailOrder, to number: String, in language: MailLanguage, _ realm: RealmID,
        _ settings: Settings
    ) -> Letter? {
        let name = settings[SettingCatalogue.displayName]
        let message: TextMessage
        switch order.kind {
        case .emailOtp(let code, let minutes), .emailChangeCode(let code, let minutes):
            message = TextMessage(code: code, minutes: minutes, product: name, in: language)
        case .pinResetCode(let code, let minutes):
            message = TextMessage(
                pinReset: code, minutes: minutes, product: name, in: language)
        case .magicLink(let link, let minutes):
            message = TextMessage(link: link, minutes: minutes, product: name, in: language)
        default: return nil
        }
        return Letter(
            realm: realm, channel: order.channel,
            otherChannels: settings[SettingCatalogue.phoneChannels].compactMap(Channel.init)
                .filter { $0 != order.channel }, to: number, from: nil, fromName: name, subject: "",
            text: message.text, html: "", code: message.code,
            language: language.rawValue, deadline: order.deadline,
            receipts: ReceiptAddress.base(settings))
    }

    private func kind(
        of order: MailOrder, _ event: Recorded
    ) async throws(LogFailure) -> MailKind {
        if case .passkeyRemoved(_, let moment) = order.kind {
            let known = try await events.stream(event.stream, after: 0, in: event.realm)
            return .passkeyRemoved(device: PasskeyName.of(known), at: moment)
        }
        guard order.isForTheContact else { return order.kind }
        let name = ContactMails.name(
            of: try await events.stream(event.stream, after: 0, in: event.realm))
        return switch order.kind {
        case .subscriberFails(_, let since): .subscriberFails(name: name, since: since)
        case .subscriberStopped(_, let moment): .subscriberStopped(name: name, at: moment)
        default: order.kind
        }
    }

    /// Whom the event itself names; else whose account it is about.
    private func person(
        of order: MailOrder, _ event: Recorded
    ) async throws(LogFailure) -> Person? {
        if order.isForTheContact {
            let settings = try await settings(of: event.realm, nil)
            return settings[SettingCatalogue.contact].map { Person(email: $0) }
        }
        guard let account = order.account else {
            guard case .opened(let fields) = event.personal else { return nil }
            return Person(fields: fields)
        }
        if order.isForTheOldAddress { return try await Person.before(event, from: events) }
        let known = try await events.stream(account, after: 0, in: event.realm)
        // A code or link of an earlier proof generation has ended: its mail is not sent any more.
        if let generation = order.generation,
            Account(folding: known).proofGeneration != generation
        {
            return nil
        }
        return Person.latest(known)
    }
}

extension Person {
    /// The person as they were before this event changed their mail address: their new version
    /// stands right before it.
    static func before(
        _ event: Recorded, from events: any EventLog
    ) async throws(LogFailure) -> Person? {
        var people: [Person?] = []
        for known in try await events.stream(event.stream, after: 0, in: event.realm)
        where known.position < event.position {
            switch AccountEvent(known) {
            case .registered(_, _, _, let person), .personChanged(let person):
                people.append(known.personal.isGone ? nil : person)
            default: break
            }
        }
        return people.dropLast().last ?? nil
    }

    /// As an account's events left it. Nil where the person was erased, or never existed.
    static func latest(_ events: [Recorded]) -> Person? {
        var person: Person?
        for event in events {
            switch AccountEvent(event) {
            case .registered(_, _, _, let known), .personChanged(let known):
                person = event.personal.isGone ? nil : known
            default: break
            }
        }
        return person
    }
}

extension StreamState {
    /// As its events left it.
    init(folding events: [Recorded]) {
        self.init()
        for event in events {
            if let event = Event(event) { apply(event) }
        }
    }
}
