import HTTP
import Synchronization
import Testing

@testable import HTTPClient

@Suite struct `A body that is read while it comes` {
    private let server: ChildServer
    private let client: WebClient

    init() throws {
        server = try ChildServer("http_server.py")
        var configuration = Configuration()
        configuration.timeout = .seconds(20)
        configuration.maximumBodyBytes = 10
        client = try WebClient(configuration)
    }

    private func url(_ path: String) -> OutgoingRequest {
        OutgoingRequest(url: "http://127.0.0.1:\(server.port)\(path)")
    }

    @Test func `a body that is read while it comes is handed over piece by piece, however long`()
        async throws
    {
        let count = Mutex(0)
        let response = try await client.stream(url("/stream/100000"), silence: .seconds(5)) {
            piece in
            count.withLock { $0 += piece.count }
            return true
        }
        #expect(response.status == .ok)
        #expect(response.body.isEmpty)
        #expect(count.withLock { $0 } == 100_000)
    }

    @Test func `a reader who wants no more ends the connection without a failure`() async throws {
        let pieces = Mutex(0)
        let response = try await client.stream(url("/drip"), silence: .seconds(5)) { _ in
            pieces.withLock { $0 += 1 }
            return false
        }
        #expect(response.status == .ok)
        #expect(pieces.withLock { $0 } == 1)
    }

    @Test func `a refusal comes as a response and not as pieces`() async throws {
        let response = try await client.stream(url("/status/503"), silence: .seconds(5)) { _ in
            Issue.record("It was handed over.")
            return false
        }
        #expect(response.status.code == 503)
    }

    @Test func `a server that falls silent is given up, and one that ends too soon is broken`()
        async throws
    {
        var configuration = Configuration()
        configuration.timeout = .milliseconds(500)
        let client = try WebClient(configuration)
        for (path, code) in [("/hang", Failure.Code.timeout), ("/short", .broken)] {
            do throws(Failure) {
                _ = try await client.stream(url(path), silence: .milliseconds(500)) { _ in true }
                Issue.record("\(path) was answered.")
            } catch {
                #expect(error.code == code, "\(path)")
            }
        }
    }
}
