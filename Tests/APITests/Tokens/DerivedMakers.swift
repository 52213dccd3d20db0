import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import OneTimeCodes
import Values

@testable import API

/// Makes something under the keys of a mint, and gives the question whether another mint accepts that.
typealias DerivedMaker = (TokenMint) -> (TokenMint) -> Bool

/// For each purpose: how it is made, and how it is looked at when it comes back.
enum DerivedMakers {
    static let now = Timestamp(seconds: 1_800_000_000)
    private static let id = UUID(high: 0x0193_a0e7_5e0c_7000, low: 0x9000_0000_0000_0001)
    private static let other = UUID(high: 0x0193_a0e7_5e0c_8000, low: 0x9000_0000_0000_0002)

    static func all() -> [DerivedPurpose: DerivedMaker] {
        let groups = [
            names(), tokens(), ownersTokens(), digests(), repeatable(), upstream(), bound(),
        ]
        return groups.reduce(into: [:]) { all, group in
            all.merge(group) { _, _ in preconditionFailure("A purpose is made in two ways.") }
        }
    }

    private static func same<Value: Equatable>(
        _ make: @escaping (TokenMint) -> Value
    ) -> DerivedMaker {
        { mint in
            let made = make(mint)
            return { make($0) == made }
        }
    }

    private static func read(
        _ write: @escaping (TokenMint) -> String, _ read: @escaping (TokenMint, String) -> Bool
    ) -> DerivedMaker {
        { mint in
            let text = write(mint)
            return { read($0, text) }
        }
    }

    private static func kept(_ digest: @escaping (TokenMint) -> SecretDigest?) -> DerivedMaker {
        { mint in
            let kept = digest(mint)
            return { shown in kept.map { shown.shown(digest).matches($0) } ?? false }
        }
    }

    private static func names() -> [DerivedPurpose: DerivedMaker] {
        var makers: [DerivedPurpose: DerivedMaker] = [:]
        makers[.mailbox] = same { $0.mailbox("ann@example.org") }
        makers[.invite] = same { mint in
            InviteCode(typed: "0000-0000-0000").map { mint.invite($0) }
        }
        makers[.device] = same { mint in UserCode(typed: "BCDF-GHJK").map { mint.device($0) } }
        makers[.consent] = same { $0.consent(of: id, to: other) }
        makers[.tenantMethods] = same { $0.methods(of: id, for: other) }
        makers[.importedAccount] = same {
            AccountRecord.Reading(mint: $0, providers: Providers()).account("ann", from: .csv)
        }
        makers[.tenantName] = same { $0.name("ann", of: other) }
        makers[.approval] = same {
            $0.approval($0.approvalNumber(ofSigned: "LOGIN", by: id, .long), for: other)
        }
        makers[.pairwise] = same { $0.subject(id, in: "client.example") }
        makers[.providerIdentity] = same { $0.identity("ann", at: "https://issuer.example") }
        makers[.providerSession] = same { $0.upstreamSession("s", at: "https://issuer.example") }
        makers[.accountIdentity] = same { $0.accountIdentity(id, at: "corporate") }
        makers[.providerToken] = same { $0.use(ofToken: "token") }
        makers[.network] = same { $0.pseudonym(ofNetwork: "203.0.113.0/24") }
        makers[.notificationSource] = same { $0.derive(.notificationSource, [1]) }
        makers[.notificationState] = same { $0.derive(.notificationState, [1]) }
        makers[.formName] = same { $0.derive(.formName, [1]) }
        makers[.recoveryCodeDigest] = same { mint in
            RecoveryCode(typed: "0000-0000-0000").flatMap { mint.digest(of: $0, for: id) }
        }
        makers[.federatedKey] = same { $0.session(ofKey: "AbCdEfGhIj") }
        makers[.federatedDevice] = same { $0.federatedDevice("device") }
        makers[.federatedAssertion] = same { $0.federatedAssertion("AbCdEfGhIj") }
        makers[.federatedProof] = same { $0.derive(.federatedProof, [1]) }
        let secret = BrowserSecret(for: id)
        makers[.browserSecret] = same { $0.digest(of: secret) }
        return makers
    }

    private static func tokens() -> [DerivedPurpose: DerivedMaker] {
        let bytes = [UInt8](repeating: 7, count: 70)
        var makers: [DerivedPurpose: DerivedMaker] = [:]
        makers[.refreshToken] = read(
            { $0.write(Array(bytes.prefix(20)), .refreshToken) },
            { $0.readRefreshToken($1) != nil })
        makers[.accessToken] = read(
            { $0.write(Array(bytes.prefix(38)), .accessToken) },
            { $0.readAccessToken($1) != nil })
        makers[.deviceCode] = read({ $0.deviceCode(id) }, { $0.readDeviceCode($1) == id })
        makers[.initialAccessToken] = read(
            { $0.initialAccessToken(id) }, { $0.readInitialAccessToken($1) == id })
        makers[.registrationAccessToken] = read(
            { $0.registrationAccessToken(ofClient: id) },
            { $0.readRegistrationAccessToken($1) == id })
        makers[.proofNonce] = read({ $0.proofNonce(at: now) }, { $0.isProofNonce($1, at: now) })
        makers[.federatedToken] = read(
            { $0.federatedToken("AbCdEfGhIj", id, 0) },
            { mint, text in
                mint.version { $0.federatedToken("AbCdEfGhIj", id, 0) == text } != nil
            })
        makers[.identitySignature] = read(
            { Base64URL.encode((try? $0.identityKey?.sign([7])) ?? []) },
            { mint, text in
                mint.identityKeys.contains {
                    $0.isValid(Base64URL.decode(text) ?? [], for: [7])
                }
            })
        makers[.secondStep] = read(
            { $0.secondStepTicket(id, "hash", form: "f", until: now.adding(seconds: 60)) },
            { $0.isTicket($1, id, "hash", form: "f", at: now) })
        makers[.attestationChallenge] = read(
            { $0.attestationChallenge(id, for: other) },
            { $0.readAttestationChallenge($1, of: other) == id })
        makers[.seal] = read(
            { $0.seal(["a": "b"], for: .challenge) ?? "" },
            { $0.unseal($1, for: .challenge) == ["a": "b"] })
        let request = Request(
            method: .get, path: "/", query: nil, headers: [:], body: [], source: "203.0.113.7",
            id: "request")
        let form = CSRFSecret(request)
        makers[.csrfToken] = read({ $0.csrfToken(form, nil) }, { $0.isFormToken($1, form, nil) })
        return makers
    }

    private static func ownersTokens() -> [DerivedPurpose: DerivedMaker] {
        var makers: [DerivedPurpose: DerivedMaker] = [:]
        makers[.registerToken] = read({ $0.registerToken(id) }, { $0.isRegisterToken($1, id) })
        makers[.sessionCode] = read({ $0.sessionCode(id) }, { $0.readSessionCode($1) == id })
        makers[.mailedCode] = read(
            { $0.mailedCodeToken(id) }, { $0.readMailedCodeToken($1) == id })
        makers[.ownerLink] = read({ $0.magicCode(id) }, { $0.readMagicCode($1) == id })
        makers[.delegatedCode] = read(
            { $0.delegatedCode(id) }, { $0.readDelegatedCode($1) == id })
        makers[.ownerMove] = read({ $0.ownerMove(id) }, { $0.readOwnerMove($1) == id })
        makers[.emailVerified] = read(
            { $0.emailVerifiedCode(id) }, { $0.readEmailVerifiedCode($1) == id })
        makers[.connectionState] = read(
            { $0.connectionState(id) }, { $0.readConnectionState($1) == id })
        makers[.trustedBrowser] = read(
            { $0.trustToken(id, "kept") }, { $0.readTrustToken($1, "kept") == id })
        makers[.passphraseReset] = read(
            { $0.resetToken(id, of: other) }, { $0.readResetToken($1)?.account == other })
        makers[.keepAccount] = read(
            { $0.keepToken(id, of: other) }, { $0.readKeepToken($1)?.account == other })
        makers[.ownerConfirmation] = read(
            { $0.confirmation(id, of: other) }, { $0.readConfirmation($1, of: other) != nil })
        return makers
    }

    private static func digests() -> [DerivedPurpose: DerivedMaker] {
        var makers: [DerivedPurpose: DerivedMaker] = [:]
        makers[.oneTimeCodeDigest] = kept { $0.digest(ofCode: "123456", for: id) }
        makers[.mailedCodeDigest] = kept { $0.digest(ofMailedCode: "123456", in: id) }
        makers[.ownerMoveDigest] = kept { $0.digest(ofOwnerMove: id, to: other) }
        makers[.mailboxMoveDigest] = kept { $0.digest(ofMove: "123456", of: id, to: other) }
        makers[.magicLinkDigest] = { mint in
            let token = mint.magicToken(id)
            let kept = mint.digest(ofMagicToken: token)
            return { later in
                kept.map { later.shown(magicToken: token)?.matches($0) ?? false } ?? false
            }
        }
        return makers
    }

    private static func repeatable() -> [DerivedPurpose: DerivedMaker] {
        var makers: [DerivedPurpose: DerivedMaker] = [:]
        makers[.oneTimeCode] = { mint in
            let digits = mint.code(id)
            let stream = MailedCode.stream(of: other, .secondFactor)
            guard let digest = mint.digest(ofMailedCode: digits, in: stream) else {
                return { _ in false }
            }
            let issued = IssuedMailedCode(
                id: id, purpose: .secondFactor, account: other, digest: digest, issuedAt: now)
            return { $0.digits(of: issued) == digits }
        }
        makers[.magicLink] = { mint in
            let token = mint.magicToken(id)
            guard let digest = mint.digest(ofMagicToken: token) else { return { _ in false } }
            let issued = IssuedLink(
                id: id, account: other, digest: digest, app: nil, issuedAt: now, expiresAt: now,
                base: "https://id.example", returnPath: nil, mail: other, person: Person())
            return { $0.address(of: issued)?.hasSuffix("&token=\(token)") == true }
        }
        makers[.inviteCode] = { mint in
            let batch = try? InviteBatch(2, of: id, mint, earlier: nil)
            let codes = batch?.invites.map(\.code.text) ?? []
            return { later in
                let again = try? InviteBatch(2, of: id, later, earlier: batch?.invites[0].id)
                return again?.invites.map(\.code.text) == codes && codes.count == 2
            }
        }
        makers[.clientSecret] = { mint in
            let given = mint.clientSecrets(of: id).first?.text
            return { $0.clientSecrets(of: id).contains { $0.text == given } }
        }
        for purpose in [DerivedPurpose.adminKey, .webhookSecret] {
            makers[purpose] = { mint in
                let given = mint.derive(purpose, id.bytes)
                return { $0.version { $0.derive(purpose, id.bytes) == given } != nil }
            }
        }
        return makers
    }

    private static func upstream() -> [DerivedPurpose: DerivedMaker] {
        /// What went out together comes back together.
        func sent(_ text: @escaping (TokenMint) -> String) -> DerivedMaker {
            { mint in
                let (state, sent) = (mint.upstreamState(id), text(mint))
                return { $0.version(ofUpstreamState: state, id).map(text) == sent }
            }
        }
        /// What was given once is compared under each version.
        func again(_ text: @escaping (TokenMint) -> String?) -> DerivedMaker {
            { mint in
                let given = text(mint)
                return { $0.version { text($0) == given } != nil }
            }
        }
        return [
            .sharedKey: { mint in
                let given = mint.sharedKeys(of: id, rotation: 0).first?.text
                return { $0.sharedKeys(of: id, rotation: 0).contains { $0.text == given } }
            },
            .requestKey: again { $0.requestKey(id, 0) },
            .upstreamState: sent { $0.upstreamState(id) },
            .upstreamNonce: sent { $0.upstreamNonce(id) },
            .upstreamVerifier: sent { $0.upstreamVerifier(id) },
        ]
    }

    private static func bound() -> [DerivedPurpose: DerivedMaker] {
        let ceremony = Ceremony(
            kind: .signIn, client: "phone", account: nil, relyingParty: "id.example")
        return [
            .passkeyCeremony: { mint in
                let begun = mint.newID(of: ceremony, at: now)
                return { $0.isOurs(begun, ceremony) }
            },
            .passkeyChallenge: { mint in
                let begun = mint.newID(of: ceremony, at: now)
                let challenge = mint.challenge(begun, ceremony)
                return { $0.challenge(begun, ceremony) == challenge }
            },
        ]
    }
}
