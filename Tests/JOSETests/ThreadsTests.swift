import JOSE
import Testing
import Values

@Suite struct `Many threads` {
    @Test(arguments: SigningAlgorithm.allCases)
    func `one key signs and verifies on many threads`(algorithm: SigningAlgorithm) async throws {
        let key = try Keys.key(algorithm)
        let keys = try Keys.both()
        try await withThrowingTaskGroup(of: AccessToken.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let token = AccessToken.sample { $0.id = "t\(number)" }
                    return try AccessToken.check(
                        token.signed(by: key), keys: keys, rules: AccessToken.rules, at: now)
                }
            }
            var ids: Set<String> = []
            for try await token in group { ids.insert(token.id) }
            #expect(ids.count == 100)
        }
    }
}
