import Testing

@testable import API

@Suite struct `The header that somebody shows a token in` {
    @Test(arguments: ["Bearer x.y", "bearer x.y", "BEARER  x.y", "Bearer     x.y"])
    func `has a scheme in any letters, and spaces behind it`(_ line: String) {
        #expect(AuthorizationLine.text(of: line, by: "bearer") == "x.y")
        #expect(AuthorizationLine.text(of: line, by: "dpop") == nil)
        #expect(TokenScheme.read(line)?.scheme == .bearer)
    }

    @Test(arguments: [
        "", "Bearer", "Bearer ", "Bearer   ", "Bearer\tx", " Bearer x", "Bearer\u{A0}x", "Bearerx",
        "Be\u{301}arer x", "ＢＥＡＲＥＲ x",
    ])
    func `is nothing otherwise`(_ line: String) {
        #expect(AuthorizationLine.text(of: line, by: "bearer") == nil)
        #expect(TokenScheme.read(line) == nil)
    }

    @Test func `says all that is behind the spaces`() {
        #expect(AuthorizationLine.text(of: "DPoP x y ", by: "dpop") == "x y ")
        #expect(TokenScheme.read("DPoP  x")?.scheme == .proven)
    }
}
