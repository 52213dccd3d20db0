import COpenSSL

/// What went wrong in this module.
///
/// One struct with a code, because callers only ever branch on the code, and because the reason why
/// a secret was refused must not travel to the party that sent it: `description` tells the code
/// alone, OpenSSL's own words are in `debugDescription`.
public struct Failure: Error, Sendable, Hashable {
    public enum Code: String, Sendable, Hashable {
        /// The bytes are well-formed, but were not made with this key, or were changed since.
        case refused
        /// The bytes have not the shape that was asked for.
        case malformed
        /// More work, memory or length was asked for than this module grants.
        case tooLarge
        /// OpenSSL could not do what it was asked to.
        case library
    }

    public let code: Code
    private let detail: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// To be made right after the failing call: takes what OpenSSL's queue of this thread holds,
    /// and leaves the queue empty, so that no later call finds an error that is not its own.
    static func afterCall(_ call: String, _ code: Code = .library) -> Failure {
        var detail = call
        var text = [CChar](repeating: 0, count: 256)
        while true {
            let error = ERR_get_error()
            if error == 0 { break }
            unsafe ERR_error_string_n(error, &text, text.count)
            let end = text.firstIndex(of: 0) ?? text.count
            let bytes = text[..<end].map { UInt8(bitPattern: $0) }
            detail += "; " + String(decoding: bytes, as: UTF8.self)
        }
        return Failure(code, detail)
    }

    public static func == (left: Failure, right: Failure) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension Failure: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "cryptography: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}
