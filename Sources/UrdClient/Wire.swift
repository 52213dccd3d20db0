public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Carries a request and brings the answer.
public protocol Transport: Sendable {
    func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse)
}

/// Over the network, without cookies and without a cache.
public struct WebTransport: Transport {
    private let session: URLSession

    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.timeoutIntervalForRequest = 30
        session = URLSession(configuration: configuration)
    }

    public func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else {
            throw UrdError.unexpectedAnswer("no answer of HTTP")
        }
        return (data, response)
    }
}

/// How requests are written.
struct Wire: Sendable {
    let realm: URL
    let transport: any Transport

    func get(_ path: String, token: String) async throws -> Data {
        try await send("GET", path, nil, nil, token)
    }

    func delete(_ path: String, token: String) async throws {
        _ = try await send("DELETE", path, nil, nil, token)
    }

    func post(_ path: String, json: [String: String]) async throws -> Data {
        let body = try JSONSerialization.data(withJSONObject: json)
        return try await send("POST", path, body, "application/json", nil)
    }

    func post(_ path: String, body: Data, token: String) async throws -> Data {
        try await send("POST", path, body, "application/json", token)
    }

    func post(
        _ path: String, form: [String: String], token: String? = nil, name: String? = nil
    ) async throws -> Data {
        let pairs = form.sorted { $0.key < $1.key }.map {
            escaped($0.key) + "=" + escaped($0.value)
        }
        return try await send(
            "POST", path, Data(pairs.joined(separator: "&").utf8),
            "application/x-www-form-urlencoded", token, name)
    }

    private func send(
        _ method: String, _ path: String, _ body: Data?, _ type: String?, _ token: String?,
        _ name: String? = nil
    ) async throws -> Data {
        var request = URLRequest(url: realm.appending(path: path))
        request.httpMethod = method
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        if let type { request.setValue(type, forHTTPHeaderField: "Content-Type") }
        if let name { request.setValue(name, forHTTPHeaderField: "Idempotency-Key") }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let data: Data
        let response: HTTPURLResponse
        do {
            (data, response) = try await transport.send(request)
        } catch let error as URLError {
            throw UrdError.unreachable(error.localizedDescription)
        }
        guard (200..<300).contains(response.statusCode) else {
            throw UrdError(
                status: response.statusCode,
                retryAfter: response.value(forHTTPHeaderField: "Retry-After"), body: data)
        }
        return data
    }

    private func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

private let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
