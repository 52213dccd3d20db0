import HTTP
import JSON
import Testing
import Values

@testable import API

/// The rows of the table of limits in docs/threat-model.md, by their first cells.
enum Budget: String, CaseIterable, CustomTestStringConvertible {
    case holder =
        "`oauth-token`, `target`: 60 a minute a session, a device code or a code, at each client that shows it"
    case client =
        "`oauth-token`, `client`: 60 a minute, of a client that authenticated and asks for itself (`client_credentials`)"
    case failures =
        "`oauth-token`, `client` at a network: 60 failures a minute; `source`: 600 a minute, 200 at once"
    case clientSecrets = "client secrets, at any number of networks"
    case mails =
        "codes by mail: `native-otp`, `magic-link`, `password-reset`, `email-verification`, 5 an hour a mailbox; `verify-code`, 5 in 5 minutes"
    case wrongCodes =
        "wrong codes: 10 an hour a mailbox in the log, `email-otp-verify` 15 a minute a mailbox and block of networks (a /24, a /48)"
    case wrongPassphrases =
        "wrong passphrases: a rest of a quarter of an hour at most in the log, `passphrase` 15 a minute a mailbox; `federation-login` 10 in 15 minutes"
    case wrongPINs = "wrong PINs"
    case joins =
        "joins at an app: 10 an hour a network, 3,000 an hour the app (`native-otp`, `sign-ups` and `app`)"
    case phones =
        "codes to phones: 1,000 an hour an app, 40 an hour numbers that begin alike (`phone-block`)"
    case beginnings = "`passkey-begin`, `device-code`, by client"
    case accounts = "`two-factor`; `device-code` by account"
    case devices =
        "requests of devices at a tenant: `device-code` 10 a minute a person and block of networks; eight blocks' wait"
    case registrations = "`client-registration`, 1,200 an hour an app"
    case owners =
        "owners of the flagship profile: `owner-sign-in` 1,000 an hour, `installation` 50 an hour, of which one network may use half"
    case ownersMails =
        "`owner-mail`, `certification`, `owner-link`, `owner-hint`, `owner-invitation`"
    case networks = "`provider`, `message-receipt`, by network"
    case notifications = "`notification`, 30 an hour"
    case passphraseWork = "passphrases being worked on: 64 wait, 32 for one network (decision 0168)"
    case bodies = "large bodies, 64 MiB together"
    case connections = "connections, 4,096; streams, 1,024, 8 a key"
    case appends = "the append queue, 503"
    case memory =
        "caches and tables in memory (buckets of limits, polls of devices, clients, keys of others): the oldest entry goes"
    case sealed = "pushed and pending requests, ceremonies of passkeys, codes"

    /// The beginning: it is long.
    var testDescription: String { String(rawValue.prefix(50)) }

    /// Where what is limited is no route: the tests of other modules that fill it.
    var testsElsewhere: [String] {
        switch self {
        case .wrongPINs:
            [
                "a wrong PIN is put on record, and the right one is refused after five",
                "a PIN is reset by a mailed code, which is used up, also where it is locked",
            ]
        case .devices: ["requests from other networks end none, and no more than eight wait"]
        case .passphraseWork:
            [
                "passphrase workers serve a second source within a turn of a saturating one",
                "a full queue makes room for a new source, not for those that fill it",
                "a block of many networks keeps no newcomer from elsewhere out",
                "a source that returns as soon as it is served gets only its turns",
            ]
        case .bodies: ["large bodies that never end keep no short one from being read"]
        case .connections:
            [
                "an idle connection is evicted for a new one when the server is full",
                "a connection with a request in progress is not evicted",
                "a feed's reader hangs up and its place is free again",
            ]
        case .appends: ["admission refuses commands over its capacity, and all once it is closed"]
        case .memory: ["rate limits use bounded memory and forget the oldest entries first"]
        case .holder, .client, .failures, .clientSecrets, .mails, .wrongCodes, .wrongPassphrases,
            .joins, .phones, .beginnings, .accounts, .registrations, .owners, .ownersMails,
            .networks, .notifications, .sealed:
            []
        }
    }
}

extension SignInWorld {
    /// An app with a host of its own.
    static let appHost = "desk.id.acme.example"

    func ask(
        _ path: String, _ form: Pairs? = nil, json: JSONObject? = nil, from source: String,
        method: HTTP.Method = .post, bearer: String? = nil, basic: String? = nil,
        host: String = "id.acme.example", query: String? = nil
    ) async -> Answered {
        var headers: Headers = ["Host": host, "Accept": "application/json"]
        if form != nil { headers["Content-Type"] = "application/x-www-form-urlencoded" }
        if json != nil { headers["Content-Type"] = "application/json" }
        headers["Authorization"] =
            bearer.map { "Bearer \($0)" } ?? basic.map { "Basic \(Base64.encode(Array($0.utf8)))" }
        let body =
            form.map { Array(Form.encode($0).utf8) } ?? json.map { JSON.object($0).canonical() }
        return Answered(
            await router.respond(
                to: Request(
                    method: method, path: path, query: query, headers: headers, body: body ?? [],
                    source: source, id: "request-12")))
    }

    func askForCode(
        _ members: JSONObject, from source: String, at host: String = "id.acme.example"
    ) async -> Answered {
        await ask("/api/account/native/otp/request", json: members, from: source, host: host)
    }

    func redeem(_ name: String, _ code: String, from source: String) async -> Answered {
        await ask(
            "/connect/token",
            [
                ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"), ("username", name),
                ("otp_code", code), ("scope", "openid"),
            ], from: source)
    }
}

/// The n-th of the stranger's networks.
func network(_ number: Int) -> String { "10.\(number / 250).\(number % 250).1" }

/// The first answer that says that it is too much.
func firstRefusal(
    within most: Int, _ ask: (Int) async throws -> Answered
) async throws -> Answered? {
    for turn in 0..<most {
        let answer = try await ask(turn)
        if answer.status == .tooManyRequests { return answer }
    }
    return nil
}
