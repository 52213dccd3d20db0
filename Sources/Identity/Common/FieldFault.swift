/// What is wrong with one field of a request. It names the field and never repeats its value.
public struct FieldFault: Error, Equatable, Sendable {
    /// The name of the field as the caller wrote it.
    public let field: String
    /// Which element is at fault, where the field is a list.
    public let index: Int?
    public let reason: Reason

    public init(_ field: String, _ reason: Reason, at index: Int? = nil) {
        self.field = field
        self.index = index
        self.reason = reason
    }

    public enum Reason: Error, Equatable, Sendable {
        /// The field is required.
        case missing
        /// There is no such field.
        case unknown
        case wrongType(expected: ValueType)
        case malformed
        /// Longer than so many characters.
        case tooLong(limit: Int)
        /// More elements than this.
        case tooMany(limit: Int)
        case outOfRange(lowest: Int64, highest: Int64)
        /// Not one of the values that Urd knows.
        case unsupported
        /// The same element stands twice.
        case duplicate
        /// A scheme that may not be used here, such as `javascript:` or plain `http:`.
        case unsafeScheme
        case hasFragment
        case hasUserInfo
        /// An escaped control character, such as `%0d`: what passes it on may read it as one.
        case hasControl
        /// A host that no name system knows, or that browsers take for another one.
        case impossibleHost
        /// Of an address that nothing is sent to.
        case port
        /// A name that Urd itself gives a value.
        case ours
        /// It cannot stand together with what another field says.
        case conflicts(with: String)
        /// It is needed because of what another field says.
        case needed(by: String)
        /// A private or symmetric key, which would stay readable in the log.
        case privateKey
        /// The value differs from the name of the object that is changed.
        case mismatch
        /// The object that the value refers to does not exist.
        case notFound
        /// It does not list what another field names.
        case missesPlaces(of: String)
        /// It is set for the realm as a whole and not for one app.
        case notPerApp
        /// Only an administrator of the realm may set it.
        case reserved
        /// An account could be named so in tokens.
        case formOfSubject
    }

    public enum ValueType: String, Equatable, Sendable {
        case flag
        case number
        case text
        case list
        case object
    }
}
