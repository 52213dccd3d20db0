internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import SecurityKeys
internal import Values

/// How a store vouches for an installation.
enum AttestationRoutes {
    static let table: [Route<RealmContext>] = [challenge, attest, assert]

    private static let refusals: [ProblemKind] =
        Place.refusals + [.invalidRequest, .invalidClient, .noSuchClient]

    private static let challenge = Route<RealmContext>(
        .post, "/auth/clients/{client_id}/challenge", id: "challengeInstallation",
        tag: "Flagship", summary: "Issues a challenge for an app's attestation.",
        detail: "It is for this client alone, for one use and a week.", right: .nothing,
        voice: .flagship, parameters: [InstallationRoutes.clientID],
        answer: Answer(
            status: .created, description: "The challenge.",
            content: .json(
                .object(
                    .required("nonce", .text(32...32), "Nonce to be included in the attestation.")),
                example: ["nonce": "AZOg514MgACQAC9rHB2aEMKl1PNoSu3x"])),
        refusals: refusals
    ) { call throws(Problem) in
        let (id, _) = try await call.managedInstallation()
        try call.countInstallation()
        let nonce = call.context.mint.attestationChallenge(call.context.newID(), for: id)
        return .json(.created, ["nonce": .string(nonce)])
    }

    private static let attest = Route<RealmContext>(
        .post, "/auth/clients/{client_id}/attestation", id: "attestInstallation",
        tag: "Flagship", summary: "Submits an app store's attestation of an app.",
        detail: "Each attempt uses the challenge up.", right: .nothing, voice: .flagship,
        parameters: [InstallationRoutes.clientID],
        body: Body(
            schema: .openObject,
            example: ["platform": "android", "issuer": "playintegrity", "challenge": "…"],
            maximumBytes: 128 * 1024),
        answer: .done("The attestation is accepted."),
        refusals: refusals
    ) { call throws(Problem) in
        let (id, challenge, text) = try await call.shownChallenge()
        let proof = try await call.storeProof(text)
        var command = CertifyInstallation(
            challenge: challenge, installation: id, proof: proof.proof,
            now: call.context.clock.now())
        command.mail = call.context.newID()
        switch try await call.certify(command) {
        case .certified: return Response(status: .noContent)
        case .refused:
            throw Problem.said(
                .invalidRequest, proof.said.isEmpty ? "invalid key id" : proof.said)
        }
    }

    private static let assert = Route<RealmContext>(
        .post, "/auth/clients/{client_id}/assertion", id: "assertInstallation",
        tag: "Flagship", summary: "Submits an assertion that an app still runs on its device.",
        detail: "With the key that App Attest vouched for, which counts its uses.",
        right: .nothing, voice: .flagship, parameters: [InstallationRoutes.clientID],
        body: Body(
            schema: .openObject, example: ["challenge": "…", "assertion": "…"],
            maximumBytes: 16 * 1024),
        answer: .done("The attestation is accepted."),
        refusals: refusals
    ) { call throws(Problem) in
        let (id, challenge, text) = try await call.shownChallenge()
        let key = try await RealmLookups(call.context).folded(AppKey.self, AppKey.stream(of: id))
            .key
        var proof = UseAppKey.Proof.refused(reason: "no_key")
        if let key, let bytes = call.body["assertion"]?.string.flatMap({ Base64.decode($0) }) {
            do throws(AppAttest.Flaw) {
                let counter = try AppAttest.verify(
                    assertion: bytes, publicKey: key.publicKey, clientData: Array(text.utf8),
                    app: key.app)
                proof = .verified(key: key.id, counter: Int64(counter))
            } catch {
                proof = .refused(reason: error.rawValue)
            }
        }
        let outcome = try await Commands(call).dispatch(
            UseAppKey(
                challenge: challenge, installation: id, proof: proof,
                now: call.context.clock.now()),
            as: .installation(id))
        switch outcome {
        case .certified: return Response(status: .noContent)
        case .refused: throw Problem.said(.invalidRequest, "invalid assertion")
        }
    }
}

extension Call<RealmContext> {
    /// The installation that the path names, and the challenge of ours that it shows.
    fileprivate func shownChallenge() async throws(Problem) -> (
        installation: UUID, challenge: UUID, text: String
    ) {
        guard let (id, _) = try await installation(text("client_id")) else {
            throw Problem.said(.noSuchClient, "Client not found")
        }
        guard let shown = body["challenge"]?.string,
            let challenge = context.mint.readAttestationChallenge(shown, of: id)
        else { throw Problem.said(.invalidRequest, "invalid challenge") }
        return (id, challenge, shown)
    }
}

extension Call<RealmContext> {
    /// A key that certifies another installation is refused on record, and uses the challenge up.
    fileprivate func certify(
        _ command: CertifyInstallation
    ) async throws(Problem) -> CertifyInstallation.Outcome {
        do throws(Problem) {
            return try await Commands(self).dispatch(
                command, as: .installation(command.installation))
        } catch {
            guard error.kind == .identityTaken else { throw error }
            var refused = command
            refused.proof = .refused(reason: "key_taken")
            return try await Commands(self).dispatch(
                refused, as: .installation(command.installation))
        }
    }
}

extension CertifyInstallation.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: .said(.noSuchClient, "Client not found")
        case .challengeOver: .said(.invalidRequest, "invalid challenge")
        case .keyTaken: Problem(.identityTaken)
        }
    }
}
