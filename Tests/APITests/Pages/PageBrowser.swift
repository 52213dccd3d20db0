import EventSourcing
import Foundation
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// A browser without JavaScript: it keeps cookies, fills forms in, and follows where it is sent. Every
/// page that it is shown is looked at for what holds for all pages.
final class PageBrowser {
    /// For those who want to see what comes of many attempts, and not their rate.
    static let unlimited: JSONObject = [
        "rate_limits": [
            "email-otp-verify": ["target": .null], "passphrase": ["target": .null],
        ]
    ]

    let world: SignInWorld
    var cookies: [String: String] = [:]
    /// What every request says beside.
    var headers: Headers = [:]
    /// Where it is.
    var source = "203.0.113.7"
    private(set) var page = ""
    private(set) var answer: Answered?

    init(_ world: SignInWorld) {
        self.world = world
    }

    @discardableResult
    func get(_ place: String) async throws -> Answered {
        try await send(.get, place, [:], nil)
    }

    /// Sends a form, with the token of the page that is shown now.
    @discardableResult
    func submit(
        _ path: String, _ fields: [(name: String, value: String)] = [], token: String? = nil,
        _ more: Headers = [:]
    ) async throws -> Answered {
        var form = fields
        if let token = token ?? self.token { form.append(("form", token)) }
        var headers = more
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        return try await send(.post, path, headers, Form.encode(form))
    }

    /// The token in the forms of the page.
    var token: String? { value(of: "form") }

    /// The value of a hidden input.
    func value(of name: String) -> String? {
        let sign = "<input type=\"hidden\" name=\"\(name)\" value=\""
        guard let start = page.range(of: sign) else { return nil }
        return String(page[start.upperBound...].prefix { $0 != "\"" })
    }

    /// Without what is sealed anew each time, in its forms and in their addresses.
    var pageUnsealed: String {
        page.replacing(/to=[A-Za-z0-9_-]+/, with: "to=")
            .replacing(/name="to" value="[A-Za-z0-9_-]+"/, with: "name=\"to\"")
    }

    func shows(_ text: String) -> Bool { page.contains(text) }

    /// Where the answer leads, if anywhere.
    var place: String? {
        answer?.status == .seeOther ? answer?.response.headers["Location"] : nil
    }

    @discardableResult
    func follow() async throws -> Answered {
        try await get(try #require(place, "the answer leads nowhere"))
    }

    private func send(
        _ method: HTTP.Method, _ place: String, _ more: Headers, _ body: String?
    ) async throws -> Answered {
        let parts = place.split(separator: "?", maxSplits: 1).map(String.init)
        var headers: Headers = ["Host": "id.acme.example"]
        for (name, value) in self.headers { headers[name] = value }
        for (name, value) in more { headers[name] = value }
        if !cookies.isEmpty {
            headers["Cookie"] = cookies.sorted { $0.key < $1.key }
                .map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        }
        let request = Request(
            method: method, path: parts[0], query: parts.count > 1 ? parts[1] : nil,
            headers: headers, body: Array((body ?? "").utf8), source: source, id: "request-9")
        let answer = Answered(await world.router.respond(to: request))
        self.answer = answer
        page = String(decoding: answer.response.body, as: UTF8.self)
        keepCookies(answer)
        if answer.response.headers["Content-Type"] == "text/html; charset=utf-8" {
            PageCheck(page, place).check(answer.response)
        }
        return answer
    }

    /// Sends the same form many times at once, and keeps nothing of the answers.
    func together(
        _ count: Int, _ path: String, _ fields: [(name: String, value: String)]
    ) async -> [Status] {
        let form = Form.encode(fields + [("form", token ?? "")])
        let cookie = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            .joined(separator: "; ")
        let request = Request(
            method: .post, path: path, query: nil,
            headers: [
                "Host": "id.acme.example", "Cookie": cookie,
                "Content-Type": "application/x-www-form-urlencoded",
            ], body: Array(form.utf8), source: "203.0.113.7", id: "request-10")
        let router = world.router
        return await withTaskGroup(of: Status.self) { group in
            for _ in 0..<count { group.addTask { await router.respond(to: request).status } }
            return await group.reduce(into: [Status]()) { $0.append($1) }
        }
    }

    private func keepCookies(_ answer: Answered) {
        for line in answer.response.headers.all("Set-Cookie") {
            let parts = line.components(separatedBy: "; ")
            #expect(Set(["Path=/", "Secure", "HttpOnly", "SameSite=Lax"]).isSubset(of: parts))
            #expect(!parts.contains { $0.hasPrefix("Domain") })
            let pair = parts[0].split(separator: "=", maxSplits: 1).map(String.init)
            #expect(pair[0].hasPrefix("__Host-"))
            cookies[pair[0]] =
                parts.contains("Max-Age=0") || pair.count < 2 ? nil : pair[1]
        }
    }
}

extension PageBrowser {
    /// Signs somebody in by a mailed code.
    func signIn(_ email: String = "ann@example.org", from place: String = "/login") async throws {
        try await get(place)
        try await askForCode(email)
        try await submit(
            "/login/code", returnTarget + [("email", email), ("code", try await code())])
        #expect(answer?.status == .seeOther, "\(page)")
    }

    func askForCode(_ email: String = "ann@example.org") async throws {
        try await submit("/login", returnTarget + [("email", email), ("by", "email_code")])
        #expect(place?.hasPrefix("/login/code?") == true, "\(page)")
        try await follow()
        #expect(answer?.status == .ok, "\(page)")
    }

    func code() async throws -> String { try await world.mailedCode() }

    /// What the page keeps in mind for later.
    var returnTarget: [(name: String, value: String)] {
        ["continue", "next", "other"].compactMap { name in value(of: name).map { (name, $0) } }
    }
}
