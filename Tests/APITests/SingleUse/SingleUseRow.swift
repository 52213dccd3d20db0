import Testing

/// The rows of the first table of docs/single-use.md, by their first cells.
enum SingleUseRow: String, CaseIterable, CustomTestStringConvertible {
    case refreshToken = "refresh token"
    case browsersCode = "authorization code of a browser"
    case installationsCode = "authorization code of an installation"
    case deviceCode = "device code"
    case mailed = "mailed code, link"
    case passkey = "passkey ceremony"
    case sessionCode = "session code"
    case storeCertification = "store certification"
    case links = "passphrase reset, owner's links"
    case secondFactor = "code of an authenticator app, recovery code"
    case invitation = "invitation"
    case pushedRequest = "pushed request"
    case clientAssertion = "`client_assertion`"
    case keyProof = "DPoP proof"
    case trustedAssertion = "assertion of a trusted issuer (JWT, SAML)"
    case serviceAssertion = "assertion for a service, by its own or the realm's key"
    case appKeyAssertion = "assertion that an app's key signed"
    case otherAppsCode = "JWT of a service's token for another app"
    case signedRequest = "signed request of a token, assertion of a device"
    case foreignToken = "logout token, ID token of a provider"

    var testDescription: String { rawValue }

    /// What is used here: once, once more, and at once at two nodes.
    var items: [SingleUseItem] {
        switch self {
        case .refreshToken: [.refreshToken]
        case .browsersCode: [.authorizationCode, .tenantCode]
        case .deviceCode: [.deviceCode]
        case .mailed: [.mailedCode, .mailedCodeOnPage, .magicLink]
        case .passkey: [.passkeySignIn, .passkeyEnrolment]
        case .sessionCode: [.sessionCode]
        case .storeCertification: [.storeCertification, .mailedCertification]
        case .links: [.passphraseLink, .ownerToken, .ownerLink, .ownerMove]
        case .secondFactor: [.timeCode, .recoveryCode]
        case .invitation: [.invitation]
        case .installationsCode, .pushedRequest, .clientAssertion, .keyProof, .trustedAssertion,
            .serviceAssertion, .appKeyAssertion, .otherAppsCode, .signedRequest, .foreignToken:
            []
        }
    }

    /// The tests that use it once more, at once, and behind each refusal, as far as it is not done here.
    var testsElsewhere: [String] {
        switch self {
        case .installationsCode:
            [
                "COZ-08: a flagship code gives all scopes for its verifier alone, once",
                "COZ-08: a flagship code shown again by any installation, or later, ends what it gave",
            ]
        case .refreshToken, .browsersCode, .deviceCode, .mailed, .passkey, .secondFactor: []
        case .sessionCode:
            ["COZ-19: a web app's host refuses another realm's session code"]
        case .storeCertification:
            ["COZ-04: an attestation challenge is used once, by its app, within a week"]
        case .links: ["COZ-24: a reset link used fifty times at once sets one passphrase"]
        case .invitation:
            ["MOD-03: an invite code bound to an address is for that address in any spelling"]
        case .pushedRequest:
            [
                "a pushed request is granted once and not used up by showing a page",
                "consenting to a pushed request grants it once",
            ]
        case .clientAssertion:
            [
                "a client assertion used fifty times on several nodes and routes is accepted once",
                "a client assertion with any fault is refused",
                "a client assertion is not used up by a request that records nothing",
            ]
        case .keyProof:
            [
                "a DPoP proof is for one token", "a DPoP proof is used up by its grant, once",
                "a DPoP proof with any fault is refused without using up what it was for",
            ]
        case .trustedAssertion:
            [
                "a trusted issuer's assertion used many times at once gives tokens once",
                "a trusted issuer's assertion with any fault is refused",
                "test_edu_06_an_assertion_of_saml_is_good_once_at_both_endpoints_and_on_two_nodes",
            ]
        case .serviceAssertion:
            [
                "test_edu_06_an_assertion_is_good_once",
                "test_edu_06_an_assertion_is_good_once_on_whichever_node_after_a_kill",
                "an assertion that is not good at the service is refused and recorded",
            ]
        case .appKeyAssertion:
            [
                "test_edu_15_an_assertion_is_good_once_of_fifty",
                "test_edu_15_a_later_assertion_is_good_once_of_fifty",
                "test_edu_15_a_used_first_assertion_costs_no_comparison",
            ]
        case .otherAppsCode:
            ["test_edu_07_a_code_for_an_app_is_good_once_and_of_its_token"]
        case .signedRequest:
            [
                "of fifty requests with one number one is taken",
                "of numbers that come at once to two nodes each is taken once at most",
                "test_edu_03_what_one_node_took_no_other_takes",
            ]
        case .foreignToken:
            [
                "a provider's answer is accepted once, within fifteen minutes",
                "a provider's logout token ends the session here",
            ]
        }
    }
}
