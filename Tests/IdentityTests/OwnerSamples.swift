import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

/// An owner, his app and what he is given.
enum Owned {
    static let owner = UUID(high: 70, low: 1)
    static let mailbox = UUID(high: 70, low: 2)
    static let token = UUID(high: 70, low: 3)
    static let session = UUID(high: 70, low: 4)
    static let code = UUID(high: 70, low: 5)
    static let mail = UUID(high: 70, low: 6)
    static let now = madeAt.adding(seconds: 60)
    static let derived = DerivedPassphrase(rounds: 650_000, hash: "scrypt")
    static let onboarded: [OwnerEvent] = [
        .appointed(owner, token: token), .onboarded(installation: installation),
    ]
    static let certified = ClientEvent.certified(.appAttest, at: madeAt, attestation: nil)

    static func request(_ secret: UInt8 = 1) throws -> OwnerRequest {
        OwnerRequest(
            target: .installation(installation, try digest(secret)), session: session,
            code: code, now: now)
    }

    static func account(_ scenario: Scenario) -> Scenario {
        scenario.given(
            AccountEvent.registered(
                mailbox: mailbox, isConfirmed: true, origin: .administrator,
                person: Person(email: "c@example.org")), in: owner)
    }
}

func givenOwner(
    _ events: [OwnerEvent] = Owned.onboarded, client: ClientEvent...
) async throws -> Scenario {
    var scenario = Owned.account(try await givenInstallation())
    for event in client { scenario = scenario.given(event, in: installation) }
    for event in events { scenario = scenario.given(event, in: Owner.stream) }
    return scenario.given(
        PassphraseEvent.derived(
            Owned.derived, account: Owned.owner, mail: Owned.mail, at: madeAt),
        in: Passphrase.stream(of: Owned.owner))
}
