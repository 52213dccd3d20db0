/// What Urd answers.
public struct Response: Sendable, Equatable {
    public var status: Status
    public var headers: Headers
    public var body: [UInt8]

    public init(status: Status, headers: Headers = Headers(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
