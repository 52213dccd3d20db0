internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import SecurityKeys
internal import Values

/// Who is about to have a passkey made, and through what.
struct PasskeyEnrollment: Sendable {
    let account: UUID
    /// The client's name. Nil: it is made on a page.
    let client: String?
    let session: SignedIn
    let party: PasskeyParty?
    /// The page's own name for who began it.
    var page: String?

    /// A page asks for user verification: without it the passkey would never sign in. Clients that Urd is
    /// compatible with ask for it as `preferred` (decision 0013).
    var requiresUserVerification: Bool { page != nil }

    func requireParty() throws(Problem) -> PasskeyParty {
        guard let party else { throw Problem(.passkeyUnavailable) }
        return party
    }

    func ceremony(_ party: PasskeyParty) -> Ceremony {
        Ceremony(
            kind: .enrollment, client: client ?? page, account: account, relyingParty: party.id)
    }
}

extension Problem {
    static let enrollmentExpired = Problem(
        .invalidEnrollment, "Enrollment session expired. Please try again.")
    static let enrollmentFailed = Problem(.invalidEnrollment, "Passkey enrollment failed.")

    /// RFC 9470: signing in again helps, and how short a time ago that has to be.
    static func signInTooOld(_ limit: Int64) -> Problem {
        var problem = Problem(.reauthenticationRequired)
        problem.headers = problem.headers.map { name, value in
            name == "WWW-Authenticate" ? (name, "\(value), max_age=\"\(limit)\"") : (name, value)
        }
        return problem
    }
}

extension EnrollPasskey.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .nativeGrantsDisabled: Problem(.nativeGrantsDisabled)
        case .notWelcome: Problem(.invalidToken)
        case .signInTooOld(let limit): .signInTooOld(limit)
        case .ceremonyUsed: .enrollmentExpired
        case .credentialTaken: .enrollmentFailed
        }
    }
}

/// Enrolls passkeys with what authenticators answer.
struct PasskeyEnrollments {
    private let call: Call<RealmContext>

    init(_ call: Call<RealmContext>) { self.call = call }

    private var context: RealmContext { call.context }

    func enroll(
        _ id: UUID, _ ceremony: Ceremony, _ attestation: JSON, _ enrolling: PasskeyEnrollment,
        _ party: PasskeyParty
    ) async throws(Problem) {
        let challenge = context.mint.challenge(id, ceremony)
        var (proof, isReadable) = verify(
            attestation, challenge: challenge, party,
            requiresUserVerification: enrolling.requiresUserVerification)
        if case .verified(let key) = proof {
            // The claim finds a concurrent enrolment that is faster than this look.
            let holder = try await RealmLookups(context).passkey(ofCredential: key.id)
            if holder != nil { proof = .refused(reason: "credential_taken") }
            let existing = try await RealmLookups(context).passkeys(of: enrolling.account)
            if existing.count >= Passkey.mostPerAccount { proof = .refused(reason: "too_many") }
        }
        let outcome = try await Commands(call).dispatch(
            EnrollPasskey(
                ceremony: id, account: enrolling.account, session: enrolling.session,
                relyingParty: party.id, proof: proof, mail: context.newID(),
                now: context.clock.now()),
            as: .user(enrolling.account, client: enrolling.client))
        switch outcome {
        case .enrolled: return
        case .tooLate: throw .enrollmentExpired
        case .refused:
            throw isReadable
                ? .enrollmentFailed : Problem(.invalidEnrollment, "Invalid attestation response.")
        }
    }

    /// Also says whether it was readable at all, which is all that its sender is told.
    private func verify(
        _ attestation: JSON, challenge: [UInt8], _ party: PasskeyParty,
        requiresUserVerification: Bool
    ) -> (EnrollPasskey.Proof, isReadable: Bool) {
        let credential: PublicKeyCredential.Attestation
        do throws(WebAuthnFailure) {
            credential = try PublicKeyCredential.Attestation(attestation)
        } catch {
            return (.refused(reason: error.description), false)
        }
        guard let policy = party.policy else {
            return (.refused(reason: "attestation_roots_unreadable"), true)
        }
        do throws(WebAuthnFailure) {
            let registered = try Registration.verify(
                credential, challenge: challenge, relyingParty: party.relyingParty,
                requiresUserVerification: requiresUserVerification,
                offeredAlgorithms: COSEAlgorithm.usual, attestation: policy,
                at: context.clock.now())
            return (.verified(CredentialRecord(registered)), true)
        } catch {
            return (.refused(reason: error.description), true)
        }
    }
}

extension CredentialRecord {
    fileprivate init(_ registered: RegisteredCredential) {
        self.init(
            id: registered.id, publicKey: registered.publicKey,
            counter: Int64(registered.signCount), isBackupEligible: registered.backupEligible,
            isBackedUp: registered.backedUp, isUserVerified: registered.userVerified,
            model: UUID(bytes: registered.model) ?? .zero, transports: registered.transports,
            format: registered.attestation.format.rawValue,
            attestation: registered.attestation.kind.rawValue,
            isTrusted: registered.attestation.isTrusted)
    }
}
