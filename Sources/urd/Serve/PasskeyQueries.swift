import API
import EventSourcing
import Identity
import ReadModels
import Values

extension ReadModelQueries {
    func settings(
        ofApp app: UUID, in realm: RealmID
    ) async throws(LogFailure) -> Identity.Settings? {
        guard let tenant = try await self.realm(realm) else { return nil }
        let settings = Identity.Settings(overrides: tenant.settings)
        guard let face = try await self.app(app, in: realm) else { return settings }
        return settings.overlaid(by: Identity.Settings(overrides: face.settings))
    }

    func passkey(
        ofCredential credential: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> PasskeyView? {
        try await asking { () throws(ReadFailure) in
            try await passkeyModel.find(credential: credential, in: realm)
        }.map(PasskeyView.init)
    }

    func passkeys(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [PasskeyView] {
        try await asking { () throws(ReadFailure) in
            try await passkeyModel.all(of: account, in: realm)
        }.map(PasskeyView.init)
    }
}

extension PasskeyView {
    fileprivate init(_ passkey: Passkeys.Entry) {
        self.init(
            id: passkey.id, account: passkey.account, relyingParty: passkey.relyingParty,
            credential: passkey.credential, publicKey: passkey.publicKey,
            counter: passkey.counter, isBackupEligible: passkey.isBackupEligible,
            transports: passkey.transports, enrolledAt: passkey.enrolledAt,
            usedAt: passkey.usedAt, named: passkey.named)
    }
}
