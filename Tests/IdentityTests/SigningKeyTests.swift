import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

func signingKey(_ id: String, _ algorithm: String = "ES256") -> NewSigningKey {
    NewSigningKey(id: id, algorithm: algorithm, published: ["kid": .string(id)], secret: "AA")
}

@Suite struct `Rotating the signing key` {
    private func rotate(_ id: String, at: Timestamp = noon)
        -> SigningKeyChange.Change<SigningKeyChange.RotateRejection>
    {
        SigningKeyChange.rotate(next: signingKey(id), now: at)
    }

    private func decided(_ events: SigningKeyEvent...) -> Decision {
        events.reduce(into: Decision()) { $0.append($1, in: SigningKeys.stream) }
    }

    private func given(_ events: SigningKeyEvent...) -> Scenario {
        events.reduce(givenRealm()) { $0.given($1, in: SigningKeys.stream) }
    }

    @Test func `rotating the signing key makes a first key sign at once`() async throws {
        try await givenRealm().when(rotate("a"))
            .then(decided(.published(signingKey("a")), .activated("a")))
    }

    @Test func `rotating the signing key publishes a key before it signs and after`() async throws {
        let first = given(.published(signingKey("a")), .activated("a"))
        try await first.when(rotate("b")).then(decided(.published(signingKey("b"))))
        let second = first.given(
            SigningKeyEvent.published(signingKey("b")), in: SigningKeys.stream)
        try await second.when(rotate("c")).then(
            decided(.retired("a", at: noon), .activated("b"), .published(signingKey("c"))))
    }

    @Test func `rotating the signing key removes expired keys and leaves other algorithms alone`()
        async throws
    {
        let keys = given(
            .published(signingKey("r", "RS256")), .activated("r"), .published(signingKey("a")),
            .retired("a", at: noon), .published(signingKey("b")), .activated("b"))
        let later = noon.adding(seconds: 30 * 86_400)
        try await keys.when(rotate("c", at: later))
            .then(decided(.removed("a"), .published(signingKey("c"))))
        try await keys.when(rotate("c", at: later.adding(seconds: -1)))
            .then(decided(.published(signingKey("c"))))
    }

    @Test func `rotating the signing key needs an enabled realm and a new id`() async throws {
        try await given(.published(signingKey("a"))).when(rotate("a")).thenRejected(.idTaken)
        try await givenDisabledRealm().when(rotate("a")).thenRejected(.realmDisabled)
        try await LogTesting.given().when(rotate("a")).thenRejected(.realmNotFound)
    }
}
