internal import Identity
internal import JSON
internal import ReadModels
internal import SecurityKeys
internal import Values

/// What the browser is asked for, under the names of WebAuthn Level 3, sections 5.4 and 5.5.
enum PasskeyOptions {
    private static let timeout = JSON.integer(Passkey.ceremonyLifetime * 1000)

    static func request(challenge: [UInt8], _ party: PasskeyParty) -> JSON {
        [
            "challenge": .string(Base64URL.encode(challenge)), "rpId": .string(party.id),
            "userVerification": "required", "allowCredentials": [], "timeout": timeout,
        ]
    }

    /// - Parameter namesNobody: who signs in by it gives no address first: the passkey has to say whose it is, and
    ///   has to verify its person, or it would never sign in.
    static func creation(
        challenge: [UInt8], _ party: PasskeyParty, user: JSON, existing: [PasskeyView],
        namesNobody: Bool = false
    ) -> JSON {
        [
            "challenge": .string(Base64URL.encode(challenge)),
            "rp": ["id": .string(party.id), "name": .string(party.name)],
            "user": user,
            "pubKeyCredParams": .array(
                COSEAlgorithm.usual.map {
                    ["type": "public-key", "alg": .integer(Int64($0))]
                }),
            "timeout": timeout, "attestation": .string(party.attestation.rawValue),
            "authenticatorSelection": [
                "residentKey": namesNobody ? "required" : "preferred",
                "requireResidentKey": .bool(namesNobody),
                "userVerification": namesNobody ? "required" : "preferred",
            ],
            "excludeCredentials": .array(
                existing.filter { $0.relyingParty == party.id }.map(descriptor)),
        ]
    }

    private static func descriptor(_ passkey: PasskeyView) -> JSON {
        [
            "type": "public-key", "id": .string(Base64URL.encode(passkey.credential)),
            "transports": .array(passkey.transports.map { .string($0) }),
        ]
    }

    /// The handle that the authenticator keeps for us, and gives back when it is used.
    static func userHandle(of account: UUID) -> [UInt8] { Array(account.description.utf8) }

    static let begun = Schema.object(
        .required(
            "ceremonyId", Fields.id, "Id of the WebAuthn ceremony, to be sent back with its result."
        ),
        .required(
            "options", .openObject, "Options for `navigator.credentials`, in the form of WebAuthn.")
    )

    static let exampleOfBegun: JSON = [
        "ceremonyId": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a10",
        "options": ["rpId": "example.org"],
    ]
}
