extension QRCode {
    /// Why there is no code. Holds nothing of the text, which may be a secret.
    ///
    /// Inside of the type, unlike in other wrappers: the module has the type's name, so that who
    /// imports several wrappers could not name a type beside it.
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        public enum Code: String, Sendable, Hashable {
            case empty
            case tooLong
            /// libqrencode had no memory left.
            case library
        }

        public let code: Code

        init(_ code: Code) { self.code = code }

        public var description: String { "QR code: \(code.rawValue)" }
    }
}
