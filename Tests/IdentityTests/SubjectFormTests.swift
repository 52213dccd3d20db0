import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let accountID = "0193a0e7-5e0c-7000-9000-2f6b1c1d9a10"
private let pairwiseSubject = "wVq0N3mB-2hV9cP_7dYxLkQeRtUiOpAs"

@Suite struct `A name for a client` {
    private func register(_ name: String, as id: UUID = client) -> RegisterClient {
        RegisterClient(id: id, clientID: name, metadata: ["token_endpoint_auth_method": "none"])
    }

    /// What tokens call people by: an account's id in whatever spelling, or a pairwise subject.
    @Test(arguments: [
        accountID, accountID.uppercased(), "0193a0e75e0c700090002f6b1c1d9a10",
        "0193a0e75e0c700090002F6B1C1D9A10", "-0193a0e7-5e0c-7000-9000-2f6b1c1d9a10-",
        pairwiseSubject,
        "a-client-of-thirty-two-letters-x",
    ])
    func `a client id that could be an account's id is refused`(name: String) async throws {
        try await givenRealm().when(register(name))
            .thenRejected(.invalid(FieldFault("client_id", .formOfSubject)))
    }

    @Test(arguments: [
        "web", "0193a0e7-5e0c-7000-9000-2f6b1c1d9a1", "\(accountID)-web",
        "a.client.of.thirty.two.letters.x",
        "reports-service-of-the-whole-house",
    ])
    func `a client id that cannot be an account's id is accepted`(name: String) {
        #expect(!SubjectForm.matches(name))
    }

    @Test func `a client id that is the client's own id is accepted`() async throws {
        let (own, other) = (client.description, app.description)
        #expect(SubjectForm.matches(own) && SubjectForm.isMade(own, for: client))
        #expect(SubjectForm.isMade(Installation.clientID(of: client), for: client))
        #expect(!SubjectForm.isMade(other, for: client))
        try await givenRealm().when(register(other))
            .thenRejected(.invalid(FieldFault("client_id", .formOfSubject)))
    }
}
