import Testing

@testable import API

@Suite struct `The Authorization header` {
    @Test(arguments: ["Bearer x.y", "bearer x.y", "BEARER  x.y", "Bearer     x.y"])
    func `an Authorization header may spell its scheme in any case, with spaces after it`(
        _ line: String
    ) {
        #expect(AuthorizationLine.text(of: line, by: "bearer") == "x.y")
        #expect(AuthorizationLine.text(of: line, by: "dpop") == nil)
        #expect(TokenScheme.read(line)?.scheme == .bearer)
    }

    @Test(arguments: [
        "", "Bearer", "Bearer ", "Bearer   ", "Bearer\tx", " Bearer x", "Bearer\u{A0}x", "Bearerx",
        "Be\u{301}arer x", "ＢＥＡＲＥＲ x",
    ])
    func `an Authorization header in any other form is refused`(_ line: String) {
        #expect(AuthorizationLine.text(of: line, by: "bearer") == nil)
        #expect(TokenScheme.read(line) == nil)
    }

    @Test func `an Authorization header's credential is all text after the spaces`() {
        #expect(AuthorizationLine.text(of: "DPoP x y ", by: "dpop") == "x y ")
        #expect(TokenScheme.read("DPoP  x")?.scheme == .proven)
    }
}
