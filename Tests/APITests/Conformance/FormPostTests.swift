import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

/// The modules of the basic certification once more, with answers by a form.
@Suite struct `OIDC basic, by form post` {
    /// What the form would send, and where: what its person's browser does with it.
    private func posted(_ answer: Answered) throws -> [String: String] {
        #expect(answer.status == .ok && answer.response.headers["Location"] == nil)
        #expect(answer.response.headers["Cache-Control"] == "no-store")
        let page = String(decoding: answer.response.body, as: UTF8.self)
        #expect(page.contains(#"method="post" action="https://web.example/back""#))
        let members = page.matches(of: /name="([a-z_]+)" value="([^"]*)"/).map {
            (String($0.1), String($0.2).replacing("&amp;", with: "&"))
        }
        return Dictionary(members, uniquingKeysWith: { first, _ in first })
    }

    private func form(
        _ world: AuthorizeWorld, _ more: Pairs, without: Set<String> = []
    ) async throws -> [String: String] {
        let request = Site.request(more + [("response_mode", "form_post")], without: without)
        let members = try posted(try await world.authorize(request))
        #expect(members["state"] == "a state&more" && members["iss"] == Site.issuer)
        return members
    }

    /// The modules of the list above whose answer is a code. Those that are answered by a page of ours, or
    /// at another endpoint, know no response mode: 17, 20 and 30, which begin with a login or an error
    /// page, and 28, 29, 32 and 37, which are asked at the token endpoint.
    @Test(
        arguments: [
            ("01", [], []), ("08", [], ["nonce"]), ("09", [("scope", "openid profile")], []),
            ("10", [("scope", "openid email")], []), ("11", [("scope", "openid address")], []),
            ("12", [("scope", "openid phone")], []),
            ("13", [("scope", "openid profile email address phone")], []),
            ("14", [("scope", "profile email openid")], []), ("15", [("display", "page")], []),
            ("16", [("display", "popup")], []), ("19", [("prompt", "none")], []),
            ("21", [("max_age", "10000")], []), ("22", [("extra", "foobar")], []),
            ("24", [("login_hint", "buffy")], []), ("25", [("ui_locales", "se")], []),
            ("26", [("claims_locales", "se")], []),
            ("27", [("acr_values", "urn:modgud:acr:single")], []),
            ("35", [("claims", #"{"userinfo":{"name":{"essential":true}}}"#)], []),
            ("38", [], ["code_challenge", "code_challenge_method"]),
        ] as [(String, Pairs, Set<String>)])
    func `OIDC form post 01-38: answers are forms, with nothing in an address`(
        number: String, more: Pairs, without: Set<String>
    ) async throws {
        let world = try await Site.signedIn()
        let members = try await form(world, more, without: without)
        #expect(members["error"] == nil)
        let verifier: Pairs = number == "38" ? [("code_verifier", "-")] : []
        let tokens = try await world.redeem(try #require(members["code"]), verifier)
        #expect(tokens.status == .ok, "\(tokens.json)")
        let nonce = try payload(of: try #require(tokens.json["id_token"]?.string))["nonce"]
        #expect((nonce == nil) == (number == "08"))
    }

    @Test(
        arguments: [
            ("02", [("response_type", "-")], "invalid_request"),
            ("33", [("request_uri", "https://web.example/request")], "request_uri_not_supported"),
            ("34", [("request", "eyJhbGciOiJub25lIn0.e30.")], "invalid_request_object"),
            (
                "36",
                [("request", "eyJhbGciOiJub25lIn0.eyJzdGF0ZSI6IngifQ.")], "invalid_request_object"
            ),
        ] as [(String, Pairs, String)])
    func `OIDC form post 02, 18, 33-36: errors are forms`(
        number: String, more: Pairs, error: String
    ) async throws {
        let members = try await form(try await Site.signedIn(), more)
        #expect(members["error"] == error && members["code"] == nil)
        // Nobody is signed in, and nobody may be asked.
        let mute = try await form(try await Site(), [("prompt", "none")])
        #expect(mute["error"] == "login_required" && mute["code"] == nil)
    }

    @Test func `OIDC form post 23, 31: a hint and a request by POST are accepted`() async throws {
        let world = try await Site.signedIn()
        let hint = try #require(try await world.tokens().json["id_token"]?.string)
        let hinted = try await form(world, [("prompt", "none"), ("id_token_hint", hint)])
        #expect(hinted["code"] != nil)
        let request = Site.request([("response_mode", "form_post")])
        let answer = try await world.authorize(request, method: .post)
        #expect(try posted(answer)["code"] != nil)
    }
}
