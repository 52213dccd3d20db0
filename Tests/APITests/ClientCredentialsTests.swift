import HTTP
import JSON
import Testing
import Values

@testable import API

@Suite struct `A client's credentials` {
    private let door = Door()

    private func read(
        _ lines: [String], _ body: JSON = [:]
    ) throws(Problem) -> ClientCredentials {
        var request = Request(method: .post, path: "/")
        for line in lines { request.headers.append("Authorization", line) }
        return try ClientCredentials(request, body: body)
    }

    private func basic(_ text: String) -> String { "Basic " + Base64.encode(Array(text.utf8)) }

    private func refusal(_ lines: [String], _ body: JSON = [:]) -> ProblemKind? {
        do {
            _ = try read(lines, body)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func `a client's credentials in the header are form-decoded`() throws {
        #expect(
            try read([basic("demo:s3cret")])
                == ClientCredentials(clientID: "demo", proof: .basic(secret: "s3cret")))
        let odd = try read([basic("de%3Amo:a%3Ab%2B+%25%C3%A4:c").replacing("Basic", with: "bAsIc")]
        )
        #expect(odd.clientID == "de:mo")
        #expect(odd.proof == .basic(secret: "a:b+ %ä:c"))
        #expect(try read([basic("demo:")]).proof == .none)
        #expect(try read([basic("demo:x")], ["client_id": "demo"]).clientID == "demo")
    }

    @Test func `a client's credentials may stand in the body`() throws {
        #expect(try read([], ["client_id": "demo"]).proof == .none)
        #expect(
            try read([], ["client_id": "demo", "client_secret": "x"]).proof == .post(secret: "x"))
        let assertion = try read(
            [], ["client_assertion": "e.y.J", "client_assertion_type": "jwt"])
        #expect(assertion.clientID == nil)
        #expect(assertion.proof == .assertion(type: "jwt", text: "e.y.J"))
    }

    @Test func `a client's credentials in both header and body are refused`() {
        let header = basic("demo:x")
        #expect(refusal([header], ["client_secret": "y"]) == .invalidRequest)
        #expect(refusal([basic("demo:")], ["client_secret": "x"]) == .invalidRequest)
        #expect(refusal([header], ["client_id": "other"]) == .invalidRequest)
        #expect(
            refusal([header], ["client_assertion": "x", "client_assertion_type": "y"])
                == .invalidRequest)
        #expect(
            refusal(
                [],
                [
                    "client_id": "a", "client_secret": "b", "client_assertion": "x",
                    "client_assertion_type": "y",
                ]) == .invalidRequest)
        #expect(refusal([header, header]) == .invalidRequest)
        #expect(refusal([], ["client_assertion": "x"]) == .invalidRequest)
        #expect(
            refusal([], ["client_id": "a", "client_assertion_type": "x"]) == .invalidRequest)
    }

    @Test func `a client's secret that is in the body as well is noted where it is the same`()
        throws
    {
        let header = basic("demo:x")
        #expect(try read([header], ["client_secret": "x"]).isRepeated)
        #expect(try read([header], ["client_id": "demo", "client_secret": "x"]).isRepeated)
        #expect(try !read([header]).isRepeated)
        #expect(refusal([header], ["client_id": "other", "client_secret": "x"]) == .invalidRequest)
        #expect(
            refusal(
                [header],
                [
                    "client_secret": "x", "client_assertion": "x", "client_assertion_type": "y",
                ]) == .invalidRequest)
    }

    @Test func `a client's credentials in the header need no padding`() throws {
        for text in ["demo:s", "demo:s3", "demo:s3c"] {
            let line = basic(text)
            let bare = line.replacing("=", with: "")
            #expect(try read([bare]) == read([line]))
            #expect(refusal([bare + "==="]) == .invalidClient)
            if bare != line { #expect(refusal([bare + "A="]) == .invalidClient) }
        }
        // One value has one spelling.
        #expect(try read(["Basic ZGVtbzpz"]).clientID == "demo")
        #expect(refusal(["Basic ZGVtbzpzMB"]) == .invalidClient)
    }

    @Test(arguments: [
        "Basic", "Basic ", "Basic !", "Basic ZGVtbw==", "Basic ZGVtbzp4=", "Basic  ZGVtbzp4",
        "Bearer ZGVtbzp4", "ZGVtbzp4", "", "Basic OnNlY3JldA==", "Basic JTAwOng=",
        "Basic JXp6Ong=", "Basic wzp4",
    ])
    func `unreadable client credentials are refused with a challenge`(_ line: String) async {
        #expect(refusal([line]) == .invalidClient)
        let answer = await door.post(
            "grant_type=x&client_id=demo", authorization: [line])
        #expect(answer.status == .unauthorized)
        #expect(answer.json["error"] == "invalid_client")
        #expect(answer.response.headers["WWW-Authenticate"] == #"Basic realm="urd""#)
        #expect(answer.response.headers["Cache-Control"] == "no-store")
    }

    @Test func `a request without client credentials is answered with a challenge`() async {
        let answer = await door.post("grant_type=x")
        #expect(answer.status == .unauthorized)
        #expect(answer.json["error"] == "invalid_client")
        #expect(answer.json["error_description"] == "client_id is required.")
    }

    @Test func `a client's right credentials authenticate it`() async {
        let right = await door.post(
            "grant_type=x", authorization: [basic("demo:\(door.secret)")])
        #expect(right.json["caller"] == "demo")
        let post = await door.post("grant_type=x&client_id=demo&client_secret=\(door.secret)")
        #expect(post.json["caller"] == "demo")
        let wrong = await door.post("grant_type=x", authorization: [basic("demo:no")])
        #expect(wrong.json["error"] == "invalid_client")
    }

    @Test func `a client's credentials have a description without the secret`() {
        let credentials = ClientCredentials(clientID: "demo", proof: .post(secret: "hush"))
        #expect("\(credentials)" == "client (post)")
    }
}
