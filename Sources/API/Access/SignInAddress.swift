internal import Identity
internal import Mail
internal import PhoneNumbers
internal import Values

/// What a person is found by and codes go to: a mail address or a phone number, each in its one form.
struct SignInAddress: Sendable, Equatable {
    /// No mail address begins with a plus sign and is without an `@`: the two are never the same.
    let text: String
    /// Nil where it is a mail address.
    let number: PhoneNumber?

    init(_ mail: MailAddress) {
        text = mail.text
        number = nil
    }

    init(_ number: PhoneNumber) {
        text = number.text
        self.number = number
    }

    /// What was typed, as far as the realm takes it. Nil for a text that is neither address.
    init?(typed: String, _ settings: Settings) {
        let typed = trimmed(typed)
        if typed.utf8.contains(UInt8(ascii: "@")) {
            guard let mail = try? MailAddress(typed) else { return nil }
            self.init(mail)
        } else {
            guard let number = try? PhoneNumber(typed: typed, settings) else { return nil }
            self.init(number)
        }
    }

    var isPhone: Bool { number != nil }

    /// A person of whom nothing else is known.
    func person(language: String? = nil) -> Person {
        isPhone
            ? Person(phone: text, language: language) : Person(email: text, language: language)
    }

    /// By what a code goes there first.
    func channel(_ settings: Settings) -> Channel {
        guard isPhone else { return .mail }
        return settings[SettingCatalogue.phoneChannels].lazy.compactMap(Channel.init).first ?? .sms
    }
}

/// Why a realm does not take what was typed as a phone number.
enum PhoneFault: Error {
    /// The realm takes none.
    case notOffered
    case noNumber
    /// Not of a mobile phone: nothing can be sent there, or it costs more.
    case noMobile
    /// Its country is not among those that the realm names.
    case foreign
}

extension PhoneFault {
    /// What is wrong with a field of a request.
    func problem(_ field: String) -> Problem {
        let detail =
            switch self {
            case .notOffered: "\(field): this realm takes no phone numbers."
            case .noNumber:
                "\(field) is no phone number that there is. Begin with + and the country."
            case .noMobile: "\(field) is not the number of a mobile phone."
            case .foreign: "\(field): messages are not sent to that country."
            }
        return Problem(.invalidField, detail, field: field)
    }
}

extension PhoneNumber {
    /// Messages cost money, and some numbers pay who owns them: only mobile numbers of the realm's countries are
    /// taken.
    init(typed: String, _ settings: Settings) throws(PhoneFault) {
        guard settings[SettingCatalogue.phoneSignIn] else { throw .notOffered }
        let countries = settings[SettingCatalogue.phoneCountries]
        do {
            self = try PhoneNumber(typed, region: countries.first)
        } catch {
            throw .noNumber
        }
        guard countries.contains(region) else { throw .foreign }
        guard kind.takesMessages else { throw .noMobile }
    }
}

extension RateCounter {
    /// Counts a code that is to be sent there. Who is paid for messages to their numbers asks from many
    /// networks, for numbers that begin alike.
    func countCode(to address: SignInAddress, _ mailbox: UUID) throws(Problem) {
        guard let number = address.number else {
            return try count(.nativeOTP, target: mailbox.description)
        }
        try count(.phoneCode, target: mailbox.description)
        try count(.phoneBlock, target: number.block)
    }
}
