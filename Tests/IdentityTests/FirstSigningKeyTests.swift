import EventSourcing
import Identity
import LogTesting
import Testing

@Suite struct `The first signing key` {
    private let add = AddFirstSigningKey(first: signingKey("a"))

    @Test func `signs at once`() async throws {
        var decision = Decision(
            SigningKeyEvent.published(signingKey("a")), in: SigningKeys.stream)
        decision.append(SigningKeyEvent.activated("a"), in: SigningKeys.stream)
        try await givenRealm().when(add).then(decision)
        // A key of another algorithm is no reason to go without.
        try await givenRealm()
            .given(SigningKeyEvent.published(signingKey("r", "RS256")), in: SigningKeys.stream)
            .given(SigningKeyEvent.activated("r"), in: SigningKeys.stream)
            .when(add).then(decision)
    }

    @Test func `is added by one of all that try`() async throws {
        try await givenRealm()
            .given(SigningKeyEvent.published(signingKey("b")), in: SigningKeys.stream)
            .given(SigningKeyEvent.activated("b"), in: SigningKeys.stream)
            .when(add).thenNothing()
    }

    @Test func `needs an open realm`() async throws {
        try await givenDisabledRealm().when(add).thenRejected(.realmDisabled)
        try await LogTesting.given().when(add).thenRejected(.realmNotFound)
    }
}
