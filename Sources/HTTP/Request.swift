/// What a client asked, read in full.
public struct Request: Sendable {
    public var method: Method
    /// As it was sent, up to the question mark: not decoded.
    public var path: String
    /// As it was sent, without the question mark; nil when there is none.
    public var query: String?
    public var headers: Headers
    public var body: [UInt8]
    /// The address of the peer, as text.
    public var source: String
    /// Names this request in log lines and responses.
    public var id: String

    public init(
        method: Method, path: String, query: String? = nil, headers: Headers = Headers(),
        body: [UInt8] = [], source: String = "", id: String = ""
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.source = source
        self.id = id
    }
}
