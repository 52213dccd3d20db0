import EventSourcing
import Identity
import LogTesting
import Testing

@Suite struct `The first signing key` {
    private let add = SigningKeyChange.addFirst(first: signingKey("a"))

    @Test func `a realm's first signing key signs at once`() async throws {
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

    @Test func `a realm's first signing key is added once by simultaneous attempts`() async throws {
        try await givenRealm()
            .given(SigningKeyEvent.published(signingKey("b")), in: SigningKeys.stream)
            .given(SigningKeyEvent.activated("b"), in: SigningKeys.stream)
            .when(add).thenNothing()
    }

    @Test func `a realm's first signing key needs an enabled realm`() async throws {
        try await givenDisabledRealm().when(add).thenRejected(.realmDisabled)
        try await LogTesting.given().when(add).thenRejected(.realmNotFound)
    }
}
