/// What Urd answers.
public struct Response: Sendable, Equatable {
    public var status: Status
    public var headers: Headers
    public var body: [UInt8]
    /// The body, where it is not known beforehand: then `body` is not looked at.
    public var stream: BodyStream?

    public init(status: Status, headers: Headers = Headers(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    public init(status: Status, headers: Headers = Headers(), stream: BodyStream) {
        self.init(status: status, headers: headers)
        self.stream = stream
    }
}
