/// Where a server listens and what it bears.
public struct Configuration: Sendable {
    /// An IPv4 or IPv6 address in digits; `::` takes connections of both kinds.
    public var address = "127.0.0.1"
    /// 0 lets the system choose; `Server.port` tells which it was.
    public var port: UInt16 = 0
    /// A listening socket from elsewhere, such as socket activation; then address and port are not
    /// used. It belongs to the server from then on.
    public var listeningSocket: Int32?
    /// Each of them reads, writes and begins handlers for its share of the connections.
    public var threads = 2
    /// Where there are so many, those that wait for a request give way to further ones, the longest
    /// waiting first; where none waits, further ones are closed when they arrive. Less where the
    /// process may not open that many files.
    public var maximumConnections = 4096
    /// From one IPv4 address or one IPv6 network of 64 bits; nil behind a proxy, where all
    /// connections come from one address.
    public var maximumConnectionsPerSource: Int?
    /// How long a connection may wait for the first line of its next request.
    public var idleTimeout: Duration = .seconds(30)
    /// How long the rest of a request may take to arrive, or a response to be taken, however
    /// steadily the bytes trickle.
    public var transferTimeout: Duration = .seconds(30)
    /// How long the handler may take before the client gets a 503.
    public var requestDeadline: Duration = .seconds(10)
    /// How many responses may be streams, at most a quarter of the connections; beyond it 503.
    public var maximumStreams = 1024
    /// How long a stream's client may take nothing of what is sent to it.
    public var streamStallTimeout: Duration = .seconds(60)
    /// When a stream ends that did not end before, a tenth sooner or later: its client comes again, and
    /// its right to the stream is asked anew.
    public var maximumStreamLife: Duration = .seconds(3600)
    /// Of a request's first line and headers together; beyond it 431.
    public var maximumHeaderBytes = 32 * 1024
    /// Larger bodies are refused with 413.
    public var maximumBodyBytes = 1024 * 1024
    /// Of the bodies of all requests together; beyond it 503.
    public var maximumBufferedBytes = 64 * 1024 * 1024
    /// Of each body that much is not counted there: forms of people are shorter.
    public var uncountedBodyBytes = 16 * 1024
    /// The value of the `Server` header; none when nil.
    public var serverName: String?

    public init() {}

    /// What cannot work, in the words of the person who set it.
    var fault: String? {
        if threads < 1 || threads > 256 { return "threads must be 1 to 256" }
        if maximumConnections < 1 || maximumConnections > 1_000_000 {
            return "maximumConnections must be 1 to 1000000"
        }
        if let perSource = maximumConnectionsPerSource, perSource < 1 {
            return "maximumConnectionsPerSource must be 1 or more"
        }
        if maximumStreams < 0 { return "maximumStreams must not be negative" }
        if maximumHeaderBytes < 256 || maximumHeaderBytes > 1024 * 1024 {
            return "maximumHeaderBytes must be 256 to 1048576"
        }
        if maximumBodyBytes < 0 { return "maximumBodyBytes must not be negative" }
        let shortest = min(
            idleTimeout, transferTimeout, requestDeadline,
            min(streamStallTimeout, maximumStreamLife))
        if shortest <= .zero {
            return "timeouts must be longer than nothing"
        }
        return nil
    }
}
