public import Values

extension SAML {
    /// What a verified assertion says.
    public struct Assertion: Sendable, Hashable {
        /// The issuer's name. With `id`, what must not be taken twice.
        public let issuer: String
        public let id: String
        /// The name id of the person.
        public let nameID: String
        /// What kind of name that is; unspecified where the assertion does not say.
        public let nameIDFormat: String
        /// The end of it, by its conditions and its confirmation.
        public let notOnOrAfter: Timestamp
        /// Until when it would be taken, clocks being apart: so long has a replay to be refused.
        public let acceptedUntil: Timestamp
        /// Where the issuer says how and when the person signed in.
        public let authenticatedAt: Timestamp?
        public let sessionIndex: String?
        public let authenticationContext: String?
        /// In the order of the document.
        public let attributes: [Attribute]

        /// All values of the attributes of a name.
        public func values(of name: String) -> [String] {
            attributes.filter { $0.name.isSame(as: name) }.flatMap(\.values)
        }
    }

    public struct Attribute: Sendable, Hashable {
        public let name: String
        public let nameFormat: String?
        public let friendlyName: String?
        /// The attribute values that are texts.
        public let values: [String]
    }
}
