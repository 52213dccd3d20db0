extension SAML {
    /// Why an assertion is not accepted.
    ///
    /// For our own records, where `reason` tells an operator what to mend. The sender of the assertion
    /// learns only that it was refused: `description` is the same for all.
    public enum Rejection: Error, Hashable, Sendable, CaseIterable {
        // The text.
        case tooLarge
        case notEncoded
        case malformed
        case documentType
        case unexpectedNode
        case notAnAssertion
        case wrongVersion
        case badID
        case duplicateID
        // The signature.
        case signatureCount
        case signaturePlace
        case signatureParts
        case canonicalization
        case signatureAlgorithm
        case referenceCount
        case referenceTarget
        case transforms
        case digestAlgorithm
        case noFittingKey
        case badSignature
        case library
        // What it says.
        case unknownIssuer
        case issuedInTheFuture
        case badSubject
        case badConditions
        case unknownCondition
        case badInstant
        case notYetValid
        case expired
        case unreasonableLifetime
        case wrongAudience
        case noBearerConfirmation
        case wrongRecipient
        case confirmationExpired
        case encryptedPart
    }
}

extension SAML.Rejection: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "the assertion is not accepted" }
    public var debugDescription: String { reason }

    /// For the log and for operators.
    public var reason: String {
        switch self {
        case .tooLarge: "It is larger, deeper or has more elements than an assertion needs."
        case .notEncoded: "It is not the Base64url encoding of UTF-8 text."
        case .malformed: "It is not well-formed XML."
        case .documentType: "It has a DOCTYPE, which is never read."
        case .unexpectedNode: "It has a processing instruction, which SAML has no use for."
        case .notAnAssertion: "Its root is not an Assertion of SAML 2.0."
        case .wrongVersion: "Its Version is not 2.0."
        case .badID: "The Assertion has no ID, or one that is no name."
        case .duplicateID: "An ID stands in it twice."
        case .signatureCount: "It has not exactly one Signature."
        case .signaturePlace: "The Signature is not a child of the Assertion."
        case .signatureParts: "The Signature has not exactly the parts that it may have."
        case .canonicalization: "SignedInfo is not canonicalized exclusively, without comments."
        case .signatureAlgorithm:
            "The signature's algorithm is not RSA with SHA-256, SHA-384 or SHA-512, nor ECDSA with "
                + "SHA-256 or SHA-384."
        case .referenceCount: "The Signature has not exactly one Reference."
        case .referenceTarget: "The Reference is not to the ID of the Assertion."
        case .transforms:
            "The Reference's transforms are not the enveloped signature and then exclusive "
                + "canonicalization without comments."
        case .digestAlgorithm: "The digest is not SHA-256, SHA-384 or SHA-512."
        case .noFittingKey: "The issuer has no key of the kind that the signature is made with."
        case .badSignature: "The signature is not by a key that is known of the issuer."
        case .library: "The signature could not be checked: the library failed."
        case .unknownIssuer: "Its Issuer is missing or not one that is trusted."
        case .issuedInTheFuture: "Its IssueInstant is in the future: compare the clocks."
        case .badSubject: "It has not exactly one Subject with one NameID that is a text."
        case .badConditions:
            "It has not exactly one Conditions with NotOnOrAfter and an AudienceRestriction, or "
                + "ends before it begins."
        case .unknownCondition: "It has a condition that is not known."
        case .badInstant: "An instant in it is missing or is not written in UTC as SAML demands."
        case .notYetValid: "Its NotBefore is in the future: compare the clocks."
        case .expired: "Its NotOnOrAfter has passed."
        case .unreasonableLifetime: "It is valid for longer than is allowed."
        case .wrongAudience: "An AudienceRestriction does not name this server."
        case .noBearerConfirmation:
            "It has no SubjectConfirmation by bearer with a Recipient and a NotOnOrAfter."
        case .wrongRecipient: "The Recipient of its confirmation is not this token endpoint."
        case .confirmationExpired: "The NotOnOrAfter of its confirmation has passed."
        case .encryptedPart: "A part of it is encrypted: have the issuer encrypt nothing in it."
        }
    }
}
