import HTTP
import Testing

@Suite struct `A method` {
    @Test(arguments: Method.allCases)
    func `a method is read as it is written`(method: Method) {
        #expect(Method(method.rawValue) == method)
    }

    @Test(arguments: ["", "get", "Get", "GET ", " GET", "TRACE", "CONNECT", "GET\r\n", "GÉT"])
    func `an unknown method is refused`(text: String) {
        #expect(Method(text) == nil)
    }
}

@Suite struct `A status` {
    @Test func `a status equals its code`() {
        #expect(Status.ok == Status(code: 200, reason: "Fine"))
        #expect(Status.ok.hashValue == Status(code: 200, reason: "Fine").hashValue)
        #expect(Status.ok != .created)
        #expect(Status.headerFieldsTooLarge.description == "431 Request Header Fields Too Large")
    }
}

@Suite struct `A message` {
    @Test func `a message starts empty`() {
        let request = Request(method: .get, path: "/")
        #expect(request.query == nil)
        #expect(request.headers.isEmpty)
        #expect(request.body.isEmpty)
        #expect(Response(status: .ok) == Response(status: .ok, headers: [:], body: []))
    }
}
