internal import Values

/// Reads a signed assertion, which has to be of a known issuer already, by the rules of RFC 7522
/// section 3 and SAML Core section 2.
struct Reader {
    let root: XMLElement
    let issuer: String
    let rules: SAML.Rules
    let now: Timestamp

    private static let longestName = 1024

    func assertion() throws(SAML.Rejection) -> SAML.Assertion {
        guard root["Version"]?.isSame(as: "2.0") == true else { throw .wrongVersion }
        guard try SAML.issuer(of: root).isSame(as: issuer), let id = root["ID"] else {
            throw .unknownIssuer
        }
        let issued = try instant(root["IssueInstant"])
        guard issued <= latest else { throw .issuedInTheFuture }
        let conditions = try checkConditions()
        let (name, format) = try subject()
        let confirmed = try confirmation()
        let end = min(conditions, confirmed)
        // Counted from now as well, because the instant is the issuer's to choose.
        let last = min(issued, latest).adding(seconds: max(rules.longestLifetime, 0))
        guard end <= last else { throw .unreasonableLifetime }
        let statement = try authentication()
        return SAML.Assertion(
            issuer: issuer, id: id, nameID: name, nameIDFormat: format, notOnOrAfter: end,
            acceptedUntil: end.adding(seconds: rules.boundedSkew),
            authenticatedAt: statement?.at, sessionIndex: statement?.session,
            authenticationContext: statement?.context, attributes: try attributes())
    }

    // MARK: - Time

    private var latest: Timestamp { now.adding(seconds: rules.boundedSkew) }

    private func hasPassed(_ end: Timestamp) -> Bool {
        now >= end.adding(seconds: rules.boundedSkew)
    }

    /// SAML Core section 1.3.3: in UTC.
    private func instant(_ text: String?) throws(SAML.Rejection) -> Timestamp {
        guard let text, text.utf8.last == UInt8(ascii: "Z"), let at = Timestamp(rfc3339: text)
        else { throw .badInstant }
        return at
    }

    // MARK: - Conditions

    /// - Returns: the expiry time of the conditions.
    private func checkConditions() throws(SAML.Rejection) -> Timestamp {
        guard let conditions = root.only("Conditions", in: Names.assertion),
            conditions["NotOnOrAfter"] != nil
        else { throw .badConditions }
        let end = try instant(conditions["NotOnOrAfter"])
        // SAML Core section 2.5.1 leaves it open when an assertion begins.
        if let text = conditions["NotBefore"] {
            let begin = try instant(text)
            guard begin < end else { throw .badConditions }
            guard begin <= latest else { throw .notYetValid }
        }
        guard !hasPassed(end) else { throw .expired }
        let known = ["AudienceRestriction", "OneTimeUse", "ProxyRestriction"]
        for condition in conditions.children {
            // SAML Core section 2.5.1: what is not understood makes the assertion worthless.
            guard condition.space.isSame(as: Names.assertion), known.contains(condition.name) else {
                throw .unknownCondition
            }
        }
        let restrictions = conditions.children("AudienceRestriction", in: Names.assertion)
        guard !restrictions.isEmpty else { throw .badConditions }
        for restriction in restrictions {
            let named = restriction.children("Audience", in: Names.assertion)
            let isMeant = named.contains { audience in
                audience.children.isEmpty && rules.audiences.contains(where: audience.text.isSame)
            }
            guard isMeant else { throw .wrongAudience }
        }
        return end
    }

    // MARK: - Subject

    private func subject() throws(SAML.Rejection) -> (name: String, format: String) {
        guard let subject = root.only("Subject", in: Names.assertion) else { throw .badSubject }
        guard subject.children("EncryptedID", in: Names.assertion).isEmpty else {
            throw .encryptedPart
        }
        guard let name = subject.only("NameID", in: Names.assertion), name.children.isEmpty,
            !name.text.isEmpty, name.text.utf8.count <= Self.longestName
        else { throw .badSubject }
        return (name.text, name["Format"] ?? Names.unspecified)
    }

    /// Returns the end of the first confirmation that holds; where none does, says what is wrong with
    /// the first.
    private func confirmation() throws(SAML.Rejection) -> Timestamp {
        let all =
            root.only("Subject", in: Names.assertion)?
            .children("SubjectConfirmation", in: Names.assertion) ?? []
        var rejection: SAML.Rejection?
        for one in all where one["Method"]?.isSame(as: Names.bearer) == true {
            do {
                return try end(of: one)
            } catch {
                rejection = rejection ?? error
            }
        }
        throw rejection ?? .noBearerConfirmation
    }

    private func end(of confirmation: XMLElement) throws(SAML.Rejection) -> Timestamp {
        guard let data = confirmation.only("SubjectConfirmationData", in: Names.assertion),
            let recipient = data["Recipient"], data["NotOnOrAfter"] != nil
        else { throw .noBearerConfirmation }
        guard rules.recipients.contains(where: recipient.isSame) else { throw .wrongRecipient }
        let end = try instant(data["NotOnOrAfter"])
        guard !hasPassed(end) else { throw .confirmationExpired }
        if let begin = data["NotBefore"], try instant(begin) > latest { throw .notYetValid }
        return end
    }

    // MARK: - Statements

    private func authentication() throws(SAML.Rejection) -> (
        at: Timestamp, session: String?, context: String?
    )? {
        guard let statement = root.children("AuthnStatement", in: Names.assertion).first else {
            return nil
        }
        let at = try instant(statement["AuthnInstant"])
        if let end = statement["SessionNotOnOrAfter"], hasPassed(try instant(end)) {
            throw .expired
        }
        let context = statement.only("AuthnContext", in: Names.assertion)?
            .only("AuthnContextClassRef", in: Names.assertion)?.text
        return (at, statement["SessionIndex"], context)
    }

    private func attributes() throws(SAML.Rejection) -> [SAML.Attribute] {
        var found: [SAML.Attribute] = []
        for statement in root.children("AttributeStatement", in: Names.assertion) {
            guard statement.children("EncryptedAttribute", in: Names.assertion).isEmpty else {
                throw .encryptedPart
            }
            for attribute in statement.children("Attribute", in: Names.assertion) {
                found.append(
                    SAML.Attribute(
                        name: attribute["Name"] ?? "", nameFormat: attribute["NameFormat"],
                        friendlyName: attribute["FriendlyName"], values: values(of: attribute)))
            }
        }
        return found
    }

    /// Without those that are elements, or nothing (`xsi:nil`).
    private func values(of attribute: XMLElement) -> [String] {
        attribute.children("AttributeValue", in: Names.assertion).filter { value in
            value.children.isEmpty
                && !value.attributes.contains {
                    $0.space.isSame(as: Names.instance) && $0.name == "nil" && $0.value != "false"
                }
        }.map(\.text)
    }
}
