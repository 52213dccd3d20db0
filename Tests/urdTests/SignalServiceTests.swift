import HTTP
import HTTPClient
import Testing

@testable import urd

@Suite struct `Where security signals are pushed` {
    private func failure(of url: String) async throws -> HTTPClient.Failure.Code? {
        let web = try WebClient(SignalService.configuration(ServeOptions()))
        do {
            _ = try await web.send(OutgoingRequest(method: .post, url: url, headers: [:], body: []))
            return nil
        } catch {
            return error.code
        }
    }

    @Test(arguments: [
        "https://localhost:1/", "https://127.0.0.1:1/", "https://[::1]:1/",
        "https://[::ffff:127.0.0.1]:1/", "https://[64:ff9b::7f00:1]:1/", "https://10.0.0.1:1/",
        "https://169.254.169.254/latest", "https://100.64.0.1:1/", "https://[fd00::1]:1/",
    ])
    func `a receiver whose name leads into the own network is never connected to`(
        _ url: String
    ) async throws {
        #expect(try await failure(of: url) == .forbiddenAddress)
    }

    @Test func `no signal is pushed without TLS`() async throws {
        #expect(try await failure(of: "http://localhost:1/") == .invalidRequest)
    }
}
