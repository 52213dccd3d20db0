/// A response status (RFC 9110 section 15). The code alone says which one it is.
public struct Status: Hashable, Sendable, CustomStringConvertible {
    public let code: Int
    public let reason: String

    public init(code: Int, reason: String) {
        self.code = code
        self.reason = reason
    }

    public static func == (left: Status, right: Status) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    public var description: String { "\(code) \(reason)" }

    public static let ok = Status(code: 200, reason: "OK")
    public static let created = Status(code: 201, reason: "Created")
    public static let accepted = Status(code: 202, reason: "Accepted")
    public static let noContent = Status(code: 204, reason: "No Content")
    public static let found = Status(code: 302, reason: "Found")
    public static let seeOther = Status(code: 303, reason: "See Other")
    public static let notModified = Status(code: 304, reason: "Not Modified")
    public static let badRequest = Status(code: 400, reason: "Bad Request")
    public static let unauthorized = Status(code: 401, reason: "Unauthorized")
    public static let forbidden = Status(code: 403, reason: "Forbidden")
    public static let notFound = Status(code: 404, reason: "Not Found")
    public static let methodNotAllowed = Status(code: 405, reason: "Method Not Allowed")
    public static let notAcceptable = Status(code: 406, reason: "Not Acceptable")
    public static let conflict = Status(code: 409, reason: "Conflict")
    public static let gone = Status(code: 410, reason: "Gone")
    public static let preconditionFailed = Status(code: 412, reason: "Precondition Failed")
    public static let contentTooLarge = Status(code: 413, reason: "Content Too Large")
    public static let unsupportedMediaType = Status(code: 415, reason: "Unsupported Media Type")
    public static let unprocessable = Status(code: 422, reason: "Unprocessable Content")
    public static let tooManyRequests = Status(code: 429, reason: "Too Many Requests")
    public static let headerFieldsTooLarge = Status(
        code: 431, reason: "Request Header Fields Too Large")
    public static let internalError = Status(code: 500, reason: "Internal Server Error")
    public static let notImplemented = Status(code: 501, reason: "Not Implemented")
    public static let serviceUnavailable = Status(code: 503, reason: "Service Unavailable")
}
