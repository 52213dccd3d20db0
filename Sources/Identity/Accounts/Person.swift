internal import EventSourcing
public import JSON

/// What an account knows of its person. All of it is personal.
public struct Person: Sendable, Equatable {
    /// As it was given, for mails; what tells mailboxes apart is their stream.
    public var email: String?
    /// In its one form, such as `+41791234567`.
    public var phone: String?
    public var firstName: String?
    public var lastName: String?

    /// The language to write in, as a tag; nil: the realm's.
    public var language: String?

    /// What other systems of the realm know the person by, such as a business partner's number.
    public var externalID: String?

    public init(
        email: String? = nil, phone: String? = nil, firstName: String? = nil,
        lastName: String? = nil,
        language: String? = nil, externalID: String? = nil
    ) {
        self.externalID = externalID
        self.email = email
        self.phone = phone
        self.firstName = firstName
        self.lastName = lastName
        self.language = language
    }

    /// Reads what an event holds.
    public init(fields: JSONObject) {
        self = (try? Field.person.read(fields)) ?? Person()
    }
}

extension Field<Person> {
    static let person = record(
        .optional(.text("email", "Mail address of the person.", .personal(.person))),
        .optional(.text("phone", "Phone number of the person.", .personal(.person))),
        .optional(.text("first_name", "First name of the person.", .personal(.person))),
        .optional(.text("last_name", "Last name of the person.", .personal(.person))),
        .optional(.text("language", "Language to write to the person in.", .personal(.person))),
        .optional(
            .text("external_id", "Number of the person in other systems.", .personal(.person))),
        make: {
            Person(
                email: $0, phone: $1, firstName: $2, lastName: $3, language: $4, externalID: $5)
        },
        take: {
            ($0.email, $0.phone, $0.firstName, $0.lastName, $0.language, $0.externalID)
        })
}

extension Person {
    /// Whether the name is valid for a person.
    public static func canBeCalled(_ name: String) -> Bool {
        (try? TextRule.label(name, limit: 100)) != nil
    }

    /// Where mails and messages go to it: the mail address, or the phone number of who has none.
    public var address: String? { email ?? phone }

    /// From now on this is its mail address. Who had a phone number in the place of one has it no more.
    public mutating func move(toMail email: String) {
        if self.email == nil { phone = nil }
        self.email = email
    }

    var hasBoth: Bool { email != nil && phone != nil }

    /// The same person by their address alone.
    var addresses: Person { Person(email: email, phone: phone, language: language) }

    /// Names are short and harmless, and there is an address: a mail address, a phone number or both.
    ///
    /// - Parameter channel: what has to reach the person, where something does.
    func check(for channel: Channel? = nil) throws(FieldFault) {
        let names = [
            ("first_name", firstName), ("last_name", lastName), ("external_id", externalID),
        ]
        for (field, name) in names {
            guard let name else { continue }
            do {
                try TextRule.label(name, limit: 100)
            } catch {
                throw FieldFault(field, error)
            }
        }
        switch channel {
        case nil where phone == nil, .mail:
            guard email != nil else { throw FieldFault("email", .missing) }
        case .sms, .whatsapp:
            guard phone != nil else { throw FieldFault("phone", .missing) }
        case nil: break
        }
        if let email {
            do { try TextRule.mailAddress(email) } catch { throw FieldFault("email", error) }
        }
        if let phone {
            do { try TextRule.phoneNumber(phone) } catch { throw FieldFault("phone", error) }
        }
    }

    /// The same for a new person, whose number has to stand in a header: see `/connect/guard`.
    /// Accounts older than this rule keep their number.
    func checkNew() throws(FieldFault) {
        try check()
        guard let externalID else { return }
        guard externalID.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw FieldFault("external_id", .malformed)
        }
    }
}
