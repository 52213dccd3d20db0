internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
import Synchronization
internal import Values

extension Call<RealmContext> {
    /// Carries a command out for the caller.
    func ask<C: AnsweringCommand>(
        _ command: C, as actor: String, client: String? = nil
    ) async throws(Problem) -> C.Outcome where C.Rejection: Refusal {
        switch try await tried(command, as: actor, client: client) {
        case .success(let outcome): return outcome
        case .failure(let refusal): throw refusal.problem
        }
    }

    /// The same for callers who know what to do about a refusal.
    func tried<C: AnsweringCommand>(
        _ command: C, as actor: String, client: String? = nil
    ) async throws(Problem) -> Result<C.Outcome, C.Rejection> {
        do {
            let id = newID()
            let answer = try await retriedUntilDecided {
                try await context.commands.ask(
                    command, in: context.place.realm, id: id, digest: [],
                    origin: origin(actor, client: client))
            }
            // The id is new: there was no earlier one.
            guard let outcome = answer.outcome else { throw Problem(.internalError) }
            return .success(outcome)
        } catch let refusal as C.Rejection {
            return .failure(refusal)
        } catch let failure as LogFailure {
            giveBack()
            throw Problem(of: failure)
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(.internalError)
        }
    }

    /// Counts the request; throws 429 where that is one too many.
    func count(
        _ policy: RatePolicy, target: String? = nil, client: String? = nil
    ) throws(Problem) {
        do throws(Problem) {
            try context.limits.count(
                policy,
                .init(
                    source: Source(context.place.address), target: target, client: client,
                    app: context.place.app?.description),
                in: context.place.realm, rates: context.rates, at: context.clock.passed())
        } catch {
            var problem = error
            // There may be other ways to sign in.
            problem.nextPage = nextPage ?? context.place.home
            throw problem
        }
        if let target { charges.withLock { $0.append((policy, target)) } }
    }

    /// An outage does not count as an attempt: the charges for a mailbox or account are given back.
    private func giveBack() {
        let taken = charges.withLock { charges in
            defer { charges = [] }
            return charges
        }
        for (policy, target) in taken {
            context.limits.giveBack(
                policy, target: target, in: context.place.realm, rates: context.rates)
        }
    }
}

extension Call<RealmContext> {
    /// Counts one more who wants to join from where the request comes. Too many hear nothing of it.
    func allowsSignUp() -> Bool {
        context.limits.allowsSignUp(
            from: Source(context.place.address), in: context.place.realm, rates: context.rates,
            at: context.clock.passed())
    }
}

extension RequestOTP.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .realmNotFound: Problem(.unknownHost)
        case .realmDisabled: Problem(.realmClosed)
        case .nativeGrantsDisabled: Problem(.nativeGrantsDisabled)
        case .loginCodeDisabled: Problem(.noSuchRoute)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension RequestMagicLink.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .realmNotFound: Problem(.unknownHost)
        case .realmDisabled: Problem(.realmClosed)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension GrantRefusal: Refusal {
    var problem: Problem {
        switch self {
        case .realmNotFound: Problem(.unknownHost)
        case .realmDisabled: Problem(.realmClosed)
        case .invalidClient: Problem(.invalidClient)
        case .usedAssertion: Problem(.invalidClient, "The assertion was used before.")
        case .usedProof: Problem(.invalidProof, "The DPoP proof was used before.")
        case .proofNeeded: Problem(.invalidProof, "The client's tokens need a DPoP proof.")
        case .unsupportedGrant:
            Problem(.unsupportedGrantType, "This grant type is not enabled for this realm.")
        case .unauthorizedClient:
            Problem(.unauthorizedClient, "The client may not use this grant type.")
        case .unknownScope: Problem(.invalidScope, "There is no such scope here for this client.")
        case .scopeNotAllowed:
            Problem(.invalidRequest, "The client may not ask for this scope.")
        case .widerScope:
            Problem(.invalidScope, "Nothing is given for it that goes beyond its scope.")
        case .invalidResource: Problem(.invalidTarget)
        case .invalidCode: Problem(.invalidGrant, "Invalid or expired code.")
        case .invalidAssertion:
            Problem(.invalidGrant, "The assertion is not valid, or was used before.")
        case .unknownIdentity: Problem(.invalidGrant, "Nobody here is known by that name.")
        case .invalidSubjectToken:
            Problem(.invalidRequest, "A token that is to be exchanged is not valid.")
        case .unprovenSubjectToken:
            Problem(
                .invalidRequest, "A token that is bound to a key is exchanged with its proof.")
        case .exchangeNotAllowed:
            Problem(.invalidRequest, "The token is not this client's to exchange.")
        case .actorNotAllowed:
            Problem(.invalidRequest, "The actor_token is nobody's who may act through this client.")
        case .invalidDeviceCode: Problem(.invalidGrant, "Invalid or used device code.")
        case .expiredDeviceCode: Problem(.expiredDeviceCode)
        case .authorizationPending: Problem(.authorizationPending)
        case .askedTooSoon: Problem(.slowDown)
        case .deviceDenied: Problem(.deviceDenied)
        // Another code is made up instead, and the passkey is looked up anew.
        case .codeTaken, .passkeyOutdated: Problem(.internalError)
        case .invalidLink: Problem(.invalidGrant, "Invalid or expired link.")
        case .invalidPassphrase: Problem(.invalidGrant, "Invalid passphrase.")
        case .secondFactorRequired:
            Problem(
                .invalidGrant, "Two-factor authentication is required; supply totp_code.")
        case .invalidSecondFactor:
            Problem(.invalidGrant, "The two-factor code is invalid.")
        case .strongerSignInNeeded: .strongerSignIn
        case .strongerSignInNow:
            Problem(.invalidGrant, "The application now requires a stronger sign-in")
        case .accountBlocked: Problem(.invalidGrant, "The account cannot sign in.")
        case .unknownCeremony, .invalidCeremony:
            Problem(.invalidGrant, "Invalid or expired passkey ceremony.")
        case .passkeyRefused: Problem(.invalidGrant, "Passkey verification failed.")
        case .invalidRefreshToken:
            Problem(.invalidGrant, "The refresh token is not valid, or is no longer.")
        case .invalidAuthorizationCode, .unknownAuthorizationCode:
            Problem(.invalidGrant, "The code is not valid, or is no longer.")
        }
    }
}

extension Problem {
    /// What a browser can ask for that an app cannot.
    fileprivate static let strongerSignIn: Problem = {
        var problem = Problem(.mfaRequired)
        problem.members["methods"] = ["passkey", "totp"]
        return problem
    }()
}
