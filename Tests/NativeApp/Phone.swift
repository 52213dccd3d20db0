import Cryptography
import Foundation
import JSON
import Synchronization
import UrdClient
import Values

@testable import SecurityKeysTesting

/// The passkey service of a phone, in software: one key, and the page that it believes to be on.
final class Phone: Authenticator {
    private struct Kept {
        let key: TestKey
        let id: [UInt8]
        let userHandle: JSON
    }

    private let origin: String
    private let kept = Mutex<Kept?>(nil)

    init(origin: String) {
        self.origin = origin
    }

    func create(_ options: Data) async throws -> Data {
        let options = try JSON.parse(Array(options))
        let key = TestKey.es256(try ES256.PrivateKey.generate())
        var draft = Draft(.create, key: key)
        draft.credentialID = Random.bytes(32)
        draft.relyingPartyID = options["rp"]?["id"]?.string ?? ""
        prepare(&draft, options)
        let user = options["user"]?["id"] ?? .null
        kept.withLock { $0 = Kept(key: key, id: draft.credentialID, userHandle: user) }
        return Data(try draft.json().canonical())
    }

    func sign(_ options: Data) async throws -> Data {
        let options = try JSON.parse(Array(options))
        guard let kept = kept.withLock({ $0 }) else { throw UrdError.signedOut }
        var draft = Draft(.get, key: kept.key)
        draft.credentialID = kept.id
        draft.userHandle = kept.userHandle
        draft.relyingPartyID = options["rpId"]?.string ?? ""
        prepare(&draft, options)
        return Data(try draft.json().canonical())
    }

    private func prepare(_ draft: inout Draft, _ options: JSON) {
        let challenge = options["challenge"]?.string ?? ""
        draft.setClientData("challenge", "\"\(challenge)\"")
        draft.setClientData("origin", "\"\(origin)\"")
    }
}
