import Identity
import JOSE
import JSON
import Testing
import Values

@Suite struct `The official flagship app` {
    @Test func `COZ-07: its identifiers are those of its makers' server, and its keys can be used`()
        throws
    {
        var texts: [String] = []
        for app in OfficialApp.apps {
            switch app {
            case .apple(let id): texts.append("ios:\(id)")
            case .android(let package, let fingerprint):
                texts.append("android:\(package):\(fingerprint)")
            }
        }
        #expect(texts.count == 6)
        #expect(texts.compactMap { NativeApp($0) } == OfficialApp.apps)
        // As they are published, in base 64.
        for digest in [
            "u2eUUnfB4Y7k7eqQL7u2jiYDJeVBwZoSV3PZSs8pttc=",
            "xNnH7T1BSDh6erMzNysfakBVLLacbSbOMxVk8jEPgdU=",
        ] {
            let hex = Hex.encode(try #require(Base64.decode(digest))).uppercased()
            #expect(texts.filter { $0.hasSuffix(hex) }.count == 2)
        }
        #expect(try KeySet(jwks: ["keys": [OfficialApp.verificationKey]]).keys.count == 1)
        #expect(Base64URL.decode(OfficialApp.decryptionKey)?.count == 32)
    }

    @Test func `COZ-07: the word for it stands among others and is no app of a domain`() throws {
        let setting = SettingCatalogue.certifiedApps.setting
        for good in [["official"], ["official", "ios:TEAMTEAM01.io.example.flagship"]] {
            try setting.check(.array(good.map { .string($0) }))
        }
        for wrong in ["Official", "official ", "unofficial"] {
            #expect(throws: FieldFault.Reason.malformed) {
                try setting.check(.array([.string(wrong)]))
            }
        }
        #expect(throws: FieldFault.Reason.malformed) {
            try SettingCatalogue.nativeApps.setting.check(["official"])
        }
    }
}
