import Cryptography
import JSON
import Values

/// An authenticator with one key, and the page that uses it.
struct SoftKey: Sendable {
    private let key: ES256.PrivateKey
    private let id = Random.bytes(16)
    static let appOrigin = "http://localhost"

    init() throws {
        key = try .generate()
    }

    /// What `navigator.credentials.create` would give.
    func attestation(_ options: JSON) throws -> JSON {
        let domain = try text(options["rp"]?["id"])
        let point = key.publicKey
        let cose: [UInt8] =
            [0xA5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 0x20] + point.x
            + [0x22, 0x58, 0x20] + point.y
        let data =
            authenticatorData(domain, flags: 0x45) + [UInt8](repeating: 0, count: 16)
            + [0, UInt8(id.count)] + id + cose
        let object: [UInt8] =
            [0xA3] + named("fmt") + named("none") + named("attStmt") + [0xA0]
            + named("authData") + [0x58, UInt8(data.count)] + data
        return credential([
            "clientDataJSON": encoded(
                clientData("create", try text(options["challenge"]), SoftKey.appOrigin)),
            "attestationObject": encoded(object),
        ])
    }

    /// What `navigator.credentials.get` would give.
    func assertion(
        _ options: JSON, account: String, origin: String = SoftKey.appOrigin
    ) throws -> JSON {
        let client = clientData("get", try text(options["challenge"]), origin)
        let data = authenticatorData(try text(options["rpId"]), flags: 0x05)
        let joined = try key.sign(data + SHA256.hash(client))
        let signature = number(joined.prefix(32)) + number(joined.suffix(32))
        return credential([
            "clientDataJSON": encoded(client), "authenticatorData": encoded(data),
            "signature": encoded([0x30, UInt8(signature.count)] + signature),
            "userHandle": encoded(Array(account.utf8)),
        ])
    }

    private func credential(_ response: JSONObject) -> JSON {
        [
            "id": encoded(id), "rawId": encoded(id), "type": "public-key",
            "response": .object(response),
        ]
    }

    private func clientData(
        _ kind: String, _ challenge: String, _ origin: String
    ) -> [UInt8] {
        JSON.object([
            "type": .string("webauthn.\(kind)"), "challenge": .string(challenge),
            "origin": .string(origin),
        ]).canonical()
    }

    private func authenticatorData(_ domain: String, flags: UInt8) -> [UInt8] {
        SHA256.hash(Array(domain.utf8)) + [flags, 0, 0, 0, 0]
    }

    private func encoded(_ bytes: [UInt8]) -> JSON { .string(Base64URL.encode(bytes)) }

    /// A short text in CBOR.
    private func named(_ text: String) -> [UInt8] {
        [0x60 | UInt8(text.utf8.count)] + Array(text.utf8)
    }

    /// A number that is not negative, in ASN.1.
    private func number(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let short = Array(bytes.drop { $0 == 0 })
        let content = (short.first ?? 0x80) >= 0x80 ? [0] + short : short
        return [0x02, UInt8(content.count)] + content
    }

    private func text(_ value: JSON?) throws -> String {
        guard let text = value?.string else { throw BenchmarkFailure("Options lack a member.") }
        return text
    }
}

/// Somebody with an account and a passkey.
final class PasskeyHolder: Sendable {
    private let key: SoftKey
    private let account: String
    private let requests: Requests

    /// The person signs in by a mailed code, and has the passkey made.
    init(_ address: String, _ mailbox: Mailbox, _ server: DevelopmentServer) throws {
        key = try SoftKey()
        requests = server.requests
        let door = try Line(port: server.port)
        let token = try mailbox.signIn(address)
        let fresh = try door.send(requests.refresh(token))
        guard let access = fresh.json?["access_token"]?.string else { throw fresh.failure }
        let begun = try door.send(
            requests.post("/connect/passkey/enroll/begin", "", token: access)
        ).json
        guard let ceremony = begun?["ceremonyId"], let options = begun?["options"],
            let handle = options["user"]?["id"]?.string.flatMap({ Base64URL.decode($0) })
        else { throw BenchmarkFailure("No enrolment began.") }
        account = String(decoding: handle, as: UTF8.self)
        let body = JSON.object([
            "ceremonyId": ceremony, "attestation": try key.attestation(options),
        ]).canonical()
        let answer = try door.send(
            requests.post(
                "/connect/passkey/enroll", String(decoding: body, as: UTF8.self),
                type: "application/json", token: access))
        guard answer.status == 200 else { throw answer.failure }
    }

    /// Begins a sign-in: the request that brings what the authenticator makes of the challenge.
    func answer(_ line: Line) throws -> [UInt8] {
        let begun = try line.send(
            requests.post("/connect/passkey/begin", "client_id=demo-native")
        ).json
        guard let ceremony = begun?["ceremonyId"]?.string, let options = begun?["options"] else {
            throw BenchmarkFailure("No ceremony began.")
        }
        let escaped = try escapedAssertion(options)
        return requests.post(
            "/connect/token",
            "grant_type=urn:cocoar:passkey&client_id=demo-native&scope=openid"
                + "&ceremony_id=\(ceremony)&assertion=\(escaped)")
    }

    /// As a field of a form.
    func escapedAssertion(
        _ options: JSON, origin: String = SoftKey.appOrigin
    ) throws -> String {
        let assertion = try key.assertion(options, account: account, origin: origin).canonical()
        // Of what needs to be escaped it has these alone.
        var escaped = ""
        for byte in assertion {
            switch UInt8(byte) {
            case UInt8(ascii: "{"): escaped += "%7B"
            case UInt8(ascii: "}"): escaped += "%7D"
            case UInt8(ascii: "\""): escaped += "%22"
            case UInt8(ascii: ":"): escaped += "%3A"
            case UInt8(ascii: ","): escaped += "%2C"
            default: escaped.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return escaped
    }

    /// Ends it, with tokens.
    func redeem(_ request: [UInt8], _ line: Line) throws {
        let answer = try line.send(request)
        guard answer.status == 200 else { throw answer.failure }
    }
}
