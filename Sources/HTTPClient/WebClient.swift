internal import CCurl
public import HTTP

/// Calls other servers over HTTP.
///
/// Certificates are verified, always. No proxy, cookie, netrc file or environment is looked at
/// unless it stands in the configuration, and a response is taken as it comes: nothing is unpacked.
public final class WebClient: Sendable {
    public let configuration: Configuration
    private let workers: Workers

    public init(_ configuration: Configuration = Configuration()) throws(Failure) {
        if let fault = configuration.fault { throw Failure(.invalidRequest, fault) }
        guard
            let workers = Workers(
                threads: configuration.threads, limit: configuration.maximumWaiting)
        else { throw Failure(.library, "no threads, or no libcurl") }
        self.configuration = configuration
        self.workers = workers
    }

    /// Requests that wait are refused; those under way come to their end.
    public func close() {
        workers.close()
    }

    public var queueLength: Int { workers.queueLength }

    /// Has a response's body read while it comes, as of a server that goes on and on.
    ///
    /// `take` is called with each piece of the body of a response that went well, on a thread of this
    /// client's own: until it returns no more is read, and where it returns false the connection is
    /// closed. The task's end does the same. The response that is returned is without that body; one
    /// that refuses has its own.
    /// - Parameter silence: how long nothing may come; where the server says so little, it is gone.
    public func stream(
        _ request: OutgoingRequest, silence: Duration,
        _ take: @escaping @Sendable ([UInt8]) -> Bool
    ) async throws(Failure) -> Response {
        let checked = try CheckedRequest(request, allowsHTTP: configuration.allowsHTTP)
        let configuration = configuration
        return try await workers.run(refused: Failure.refused) { handle, cancellation in
            let transfer = Transfer(
                bodyLimit: configuration.maximumBodyBytes,
                destinations: configuration.destinations,
                deadline: ContinuousClock.now + max(silence, configuration.timeout),
                reader: Reader(silence: silence, take: take), cancellation: cancellation)
            handle.prepare(configuration, timeout: .seconds(86_400))
            handle.prepare(checked, redirects: configuration.maximumRedirects)
            return handle.perform(transfer, of: checked)
        }.get()
    }

    /// The response, with any status; redirects are responses unless they are followed.
    ///
    /// - Parameters:
    ///   - limit: the request waits for others of that limit. Its time counts from when its turn comes.
    ///   - begins: asked on the client's thread when its turn comes. Where it says no, the request is cancelled.
    public func send(
        _ request: OutgoingRequest, within limit: RequestLimit? = nil,
        begins: @escaping @Sendable () -> Bool = { true }
    ) async throws(Failure) -> Response {
        let checked = try CheckedRequest(request, allowsHTTP: configuration.allowsHTTP)
        let timeout = min(request.timeout ?? configuration.timeout, configuration.timeout)
        let deadline = limit == nil ? ContinuousClock.now + timeout : nil
        let configuration = configuration
        return try await workers.run(
            within: limit, refused: Failure.refused, goesOn: Self.isUndisturbed
        ) { handle, cancellation in
            guard begins() else { return .failure(.refused(.cancelled)) }
            let now = ContinuousClock.now
            let deadline = deadline ?? now + timeout
            guard deadline > now else {
                return .failure(Failure(.timeout, "no thread was free in time"))
            }
            let transfer = Transfer(
                bodyLimit: configuration.maximumBodyBytes, cutsBody: configuration.cutsBodies,
                destinations: configuration.destinations, deadline: deadline,
                cancellation: cancellation)
            handle.prepare(configuration, timeout: deadline - now)
            handle.prepare(checked, redirects: configuration.maximumRedirects)
            // A response to HEAD tells the length of what it does not bring.
            if checked.method != .head, !configuration.cutsBodies {
                handle.set(CURLOPT_MAXFILESIZE_LARGE, size: max(1, configuration.maximumBodyBytes))
            }
            return handle.perform(transfer, of: checked)
        }.get()
    }

    /// Whether the server may be asked for more at once.
    private static func isUndisturbed(_ result: Result<Response, Failure>) -> Bool {
        guard case .success(let response) = result else { return false }
        return response.status.code < 500 && ![410, 429].contains(response.status.code)
    }
}

extension Handle {
    /// Makes the transfer that the options describe, which are of this request.
    fileprivate func perform(
        _ transfer: Transfer, of request: CheckedRequest
    ) -> Result<Response, Failure> {
        let outcome = perform(transfer)
        guard outcome.code == CURLE_OK || transfer.isStopped else {
            return .failure(Failure(outcome, transfer))
        }
        guard let response = Response(transfer, isHead: request.method == .head) else {
            return .failure(Failure(.broken, "the response's head"))
        }
        return .success(response)
    }

    fileprivate func prepare(_ configuration: Configuration, timeout: Duration) {
        prepareConnection(
            connectTimeout: configuration.connectTimeout, timeout: timeout,
            caFile: configuration.caFile, proxy: configuration.proxy)
        set(
            CURLOPT_HTTP_VERSION,
            Int(configuration.allowsHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        set(CURLOPT_HTTP09_ALLOWED, false)
        if !configuration.userAgent.isEmpty { set(CURLOPT_USERAGENT, configuration.userAgent) }
    }

    fileprivate func prepare(_ request: CheckedRequest, redirects: Int) {
        set(CURLOPT_URL, request.url)
        set(CURLOPT_PATH_AS_IS, true)
        set(CURLOPT_PROTOCOLS_STR, request.isEncrypted ? "https" : "http")
        set(CURLOPT_REDIR_PROTOCOLS_STR, request.isEncrypted ? "https" : "http,https")
        set(CURLOPT_DISALLOW_USERNAME_IN_URL, true)
        set(CURLOPT_HTTPHEADER, list: request.headerLines)
        set(CURLOPT_FRESH_CONNECT, request.isSentOnce)
        set(CURLOPT_FORBID_REUSE, request.isSentOnce)
        switch request.method {
        case .get: set(CURLOPT_HTTPGET, true)
        case .head: set(CURLOPT_NOBODY, true)
        case .post, .put, .patch, .delete, .options:
            if let body = request.body { set(body: body) }
            set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        }
        let mayFollow = redirects > 0 && (request.method == .get || request.method == .head)
        set(CURLOPT_FOLLOWLOCATION, mayFollow)
        set(CURLOPT_MAXREDIRS, redirects)
    }

    /// What HTTP and SMTP have in common. What libcurl would take from the environment is set, so
    /// that it does not.
    func prepareConnection(
        connectTimeout: Duration, timeout: Duration, caFile: String?, proxy: String?
    ) {
        set(CURLOPT_NOSIGNAL, true)
        // Where DNS does not answer, its thread is left behind instead of waited for: it would keep
        // ours far beyond the timeout.
        set(CURLOPT_QUICK_EXIT, true)
        set(CURLOPT_CONNECTTIMEOUT_MS, connectTimeout.milliseconds)
        set(CURLOPT_TIMEOUT_MS, timeout.milliseconds)
        set(CURLOPT_PROXY, proxy ?? "")
        set(CURLOPT_NOPROXY, "")
        set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        set(CURLOPT_SSL_VERIFYPEER, true)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_MAXCONNECTS, 4)
        // The system's folder of certificates stays in force beside the file.
        if let caFile { set(CURLOPT_CAINFO, caFile) }
    }
}

extension Response {
    fileprivate init?(_ transfer: Transfer, isHead: Bool) {
        guard transfer.isHeadComplete, let first = transfer.head.first,
            let code = transfer.statusCode
        else { return nil }
        let words = first.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        let reason = words.count > 2 ? String(decoding: words[2], as: UTF8.self) : ""
        var headers = Headers()
        for line in transfer.head.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            headers.append(
                String(decoding: line[..<colon], as: UTF8.self),
                String(decoding: line[(colon + 1)...], as: UTF8.self))
        }
        self.init(
            status: Status(code: code, reason: reason), headers: headers,
            body: isHead ? [] : transfer.body)
    }
}
