import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

let client = UUID(high: 1, low: 1)
let app = UUID(high: 2, low: 2)
let host = UUID(high: 3, low: 3)
let key = UUID(high: 4, low: 4)

/// A digest of nothing in particular.
func digest(_ byte: UInt8) throws -> SecretDigest {
    try #require(SecretDigest(Array(repeating: byte, count: 32)))
}

/// A realm that is there and open.
func givenRealm() -> Scenario {
    given(RealmEvent.created(displayName: "Acme"), in: Realm.stream)
}

func givenDisabledRealm() -> Scenario {
    given(RealmEvent.created(displayName: "Acme"), RealmEvent.disabled, in: Realm.stream)
}

/// Metadata of a web application that keeps a secret.
let webMetadata: JSONObject = [
    "client_name": "Web", "redirect_uris": ["https://web.example.org/back"],
]

/// Metadata of an app on people's phones.
let nativeMetadata: JSONObject = [
    "client_name": "Phone", "token_endpoint_auth_method": "none", "application_type": "native",
    "redirect_uris": ["org.example.phone:/back"],
    "grant_types": ["authorization_code", "refresh_token", "urn:cocoar:otp"],
]

func registered(
    _ metadata: JSONObject = webMetadata, secret: SecretDigest?
) throws -> ClientEvent {
    .registered(clientID: "web", metadata: try ClientMetadata(metadata), secret: secret)
}
