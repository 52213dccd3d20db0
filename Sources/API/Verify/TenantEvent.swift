internal import Cryptography
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What an app shows of something that a person agrees to: in the words of the profile, an event.
struct TenantEvent: Sendable {
    /// As the app names the person; the account's ID where it names none.
    let account: UUID
    let label: String
    let method: TenantMethod
    let signedAt: Timestamp
    /// The timestamp as it was written, because it is signed.
    let timestamp: String

    static let members: [Member] = [
        .optional(
            "client_user_id", .text(0...255), "Person id, or the tenant's own id of the person."),
        .optional("cotter_user_id", .text(0...64), "Person id."),
        .optional("user_id", .text(0...255), "Person id, or the tenant's own id of the person."),
        .optional("issuer", .text(0...255), "API key of the tenant."),
        .optional("event", .text(0...64), "Event type. `LOGIN…` signs the person in."),
        .optional(
            "ip", .text(0...255),
            "IP address, which is ignored: the address of the request is used."),
        .optional("location", .text(0...255), "Location, which is ignored."),
        .optional(
            "timestamp", .anything,
            "Time of the request in seconds since 1970, within three minutes of now."),
        .optional("method", .text(0...40), "Method: PIN, BIOMETRIC or TRUSTED_DEVICE."),
        .optional("code", .text(0...DeviceSignature.limit), "PIN, or the signature in base64."),
        .optional("approved", .boolean, "Whether the person approves the request."),
        .optional(
            "public_key", .text(0...DeviceSignature.limit),
            "Public key of the signing device, in base64."),
        .optional("algorithm", .text(0...20), "Algorithm of the public key."),
        .optional(
            "totp", .text(0...128), "TOTP code of the authenticator app, if the account has one."),
        .optional("register_new_device", .boolean, "Whether another device is enrolled."),
        .optional(
            "new_device_public_key", .text(0...DeviceSignature.limit),
            "Public key of the new device, in base64."),
        .optional("new_device_algorithm", .text(0...20), "Algorithm of the new device's key."),
        .optional("device_type", .text(0...64), "Type of the new device."),
        .optional("device_name", .text(0...255), "Name of the new device in the app."),
    ]

    /// Nil where the request is none that could be agreed to.
    init?(_ body: JSON, _ tenant: Tenant, of account: UUID?) {
        let timestamp =
            body["timestamp"]?.string ?? body["timestamp"]?.integer.map { String($0) } ?? ""
        guard let account, let label = body["event"]?.string, Self.isLabel(label),
            let method = body["method"]?.string.flatMap(TenantMethod.init),
            timestamp.utf8.count == 10, let seconds = Int64(timestamp), seconds > 1_000_000_000,
            body["issuer"]?.string ?? tenant.apiKey == tenant.apiKey
        else { return nil }
        self.account = account
        self.label = label
        self.method = method
        self.timestamp = timestamp
        signedAt = Timestamp(seconds: seconds)
    }

    private static func isLabel(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0) || [0x2D, 0x2E, 0x5F].contains($0)
            }
    }

    static let wrongForm = Problem(
        .invalidRequest,
        "An event has cotter_user_id (the person's ID) or client_user_id (that, or the tenant's name of the person), issuer (the API key), event, "
            + "method, and timestamp (seconds since 1970).")

    /// What a device signs. Nothing stands between the parts; the time has ten digits, so that they are not
    /// to be cut in another way.
    static func message(
        _ person: String, _ tenant: Tenant, _ label: String, _ timestamp: String,
        _ method: TenantMethod, approved: Bool, newKey: String = ""
    ) -> String {
        person + tenant.apiKey + label + timestamp + method.rawValue
            + (approved ? "true" : "false") + newKey
    }
}

extension Call<RealmContext> {
    /// The person whom an event is about, as the app names them; whose access token came along where it names
    /// no person. An ID comes before a name.
    func account(ofEvent tenant: Tenant, own: UUID?) async throws(Problem) -> UUID? {
        let named = ["cotter_user_id", "user_id", "client_user_id"].compactMap { member in
            body[member]?.string.flatMap { $0.isEmpty ? nil : $0 }
        }
        if let id = named.lazy.compactMap({ UUID($0) }).first { return id }
        guard let name = named.last else { return own }
        // A device that asks is told nothing of who there is: the name is as good as any, and no person's.
        return try await account(named: name, own: own, tenant)
            ?? context.mint.name(name, of: tenant.client.id)
    }

    /// An approval as apps see it. Whose it is, and where it was asked for, is told to those who may know.
    func event(
        _ number: Int64, _ approval: Approval, of person: VerifiedPerson?, _ tenant: Tenant
    ) throws(Problem) -> JSONObject {
        guard let terms = approval.terms else { throw TenantEventRoutes.unknown }
        let isApproved = approval.answer?.isApproved ?? false
        let name = person?.name(for: tenant.apiKey) ?? ""
        let timestamp = String(terms.signedAt.seconds)
        let isNew = approval.isOpen(at: context.clock.now())
        var members: JSONObject = [
            "ID": .integer(number), "created_at": .string(terms.at.description),
            "user_id": .string(person?.account.description ?? ""),
            "client_user_id": .string(name), "issuer": .string(tenant.apiKey),
            "event": .string(terms.label),
            "ip": .string(person == nil ? "" : terms.address ?? ""), "location": "",
            "timestamp": .string(timestamp), "method": .string(terms.method.rawValue),
            "new": .bool(isNew),
            "approved": .bool(isApproved), "signature": "",
        ]
        guard isApproved else { return members }
        // Unlike a device, the realm signs `new` as well: clients verify it so.
        let message =
            name + tenant.apiKey + terms.label + timestamp + terms.method.rawValue
            + (isNew ? "true" : "false") + "true"
        guard let key = context.mint.identityKey,
            let signature = try? key.sign(Array(message.utf8))
        else { throw Problem(.internalError) }
        members["signature"] = .string(Base64.encode(signature))
        return members
    }
}
