import HTTP
import JSON
import Testing

@testable import API

@Suite struct `Association files of a domain` {
    private static let fingerprint = String(repeating: "0a", count: 32)

    @Test func `a domain's association files have the forms of iOS and Android`() async throws {
        let world = try await SignInWorld([
            "native_apps": [
                "ios:ABCDE12345.org.example.app",
                .string("android:org.example.app:\(Self.fingerprint)"),
            ]
        ])
        let apple = try await world.get("/.well-known/apple-app-site-association")
        #expect(apple.status == .ok)
        #expect(apple.response.headers["Content-Type"]?.contains("application/json") == true)
        #expect(apple.json["webcredentials"] == ["apps": ["ABCDE12345.org.example.app"]])
        let android = try await world.get("/.well-known/assetlinks.json")
        let target = android.json.array?.first?["target"]
        #expect(target?["package_name"] == "org.example.app")
        #expect(
            target?["sha256_cert_fingerprints"]
                == [.string(Array(repeating: "0A", count: 32).joined(separator: ":"))])
    }

    @Test func `a domain's association files do not exist where no app is set`() async throws {
        let world = try await SignInWorld()
        for path in ["apple-app-site-association", "assetlinks.json"] {
            #expect(try await world.get("/.well-known/\(path)").status == .notFound)
        }
    }
}
