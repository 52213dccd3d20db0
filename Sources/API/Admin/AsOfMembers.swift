internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

extension Account: ShownState {
    static func place(of stream: UUID) -> [String] { ["account"] }

    func members(_ context: ShownContext) -> JSONObject? {
        var members: JSONObject = [
            "id": .string(context.stream.description), "confirmed": .bool(isConfirmed),
            "enabled": .bool(!isDisabled), "deleted": .bool(isDeleted),
            "erased": .bool(isErased), "roles": roles.json, "stamp": .integer(Int64(stamp.number)),
            "moves": .integer(Int64(stamp.moves)),
            "proof_generation": .integer(Int64(proofGeneration)),
            "registered_at": .string(context.first.at.description),
        ]
        members["mailbox"] = mailbox.map { .string($0.description) }
        members["phone_mailbox"] = phone.map { .string($0.description) }
        if !removed.isEmpty {
            members["access_removed"] = .object(
                JSONObject(
                    removed.map { ($0.key.name, JSON.integer(Int64($0.value))) }
                        .sorted { $0.0 < $1.0 }))
        }
        members["deletion_due"] = deletionDue.map { .string($0.description) }
        return members
    }
}

extension Client: ShownState {
    static func place(of stream: UUID) -> [String] { ["client"] }

    func members(_ context: ShownContext) -> JSONObject? {
        var metadata = metadata?.members ?? [:]
        metadata["vouched_for"] = nil
        var members: JSONObject = [
            "id": .string(context.stream.description), "client_id": .string(clientID),
            "enabled": .bool(!isDisabled), "deleted": .bool(isDeleted),
            "has_secret": .bool(secret != nil),
            "secret_rotations": .integer(Int64(secretRotations)),
            "registered_at": .string(context.first.at.description),
            "metadata": .object(metadata),
        ]
        members["certified_by"] = certification.map { .string($0.rawValue) }
        members["certified_at"] = certifiedAt.map { .string($0.description) }
        return members
    }
}

extension Session: ShownState {
    static func place(of stream: UUID) -> [String] { ["sessions", stream.description] }

    /// One that is over is none any more; why it ended says the event that ended it.
    func members(_ context: ShownContext) -> JSONObject? {
        guard let terms, end == nil else { return nil }
        var members: JSONObject = [
            "kind": "client", "client": .string(terms.client.description),
            "client_id": .string(terms.clientID), "stamp": .integer(Int64(terms.stamp.number)),
            "scope": .string(terms.scope.joined(separator: " ")),
            "amr": .array(terms.factors.map { .string($0.rawValue) }),
            "opened_at": .string(terms.openedAt.description),
            "expires_at": .string(terms.expiresAt.description),
            "generation": .integer(Int64(generation)),
        ]
        members.merge(terms.opener.members) { own, _ in own }
        members["moves"] = .integer(Int64(terms.stamp.moves))
        if terms.stamp.removals > 0 {
            members["removals"] = .integer(Int64(terms.stamp.removals))
        }
        members["federated_device"] = terms.federation?.device.map { .string($0.description) }
        members["account"] = terms.account.map { .string($0.description) }
        members["browser"] = terms.browser.map { .string($0.description) }
        members["offline"] = .bool(terms.isOffline)
        members["method"] = (terms.appMethod?.rawValue ?? terms.method?.rawValue).map {
            .string($0)
        }
        members["exchanged"] = terms.exchange.map { .string($0.origin.description) }
        members["source"] = terms.from.source.map { .string($0) }
        members["device"] = terms.from.device.map { .string($0) }
        members["refreshed_at"] = refreshedAt.map { .string($0.description) }
        return members
    }
}

extension BrowserSession: ShownState {
    static func place(of stream: UUID) -> [String] { ["sessions", stream.description] }

    func members(_ context: ShownContext) -> JSONObject? {
        guard let terms, end == nil else { return nil }
        var members: JSONObject = [
            "kind": "browser", "account": .string(terms.account.description),
            "stamp": .integer(Int64(terms.stamp.number)),
            "method": .string(terms.method.recorded(from: terms.from)),
            "amr": .array(terms.factors.map { .string($0.rawValue) }),
            "opened_at": .string(terms.openedAt.description),
            "expires_at": .string(terms.expiresAt.description),
        ]
        members.merge(terms.opener.members) { own, _ in own }
        members["moves"] = .integer(Int64(terms.stamp.moves))
        members["source"] = terms.from.source.map { .string($0) }
        members["device"] = terms.from.device.map { .string($0) }
        return members
    }
}

extension Opener? {
    fileprivate var members: JSONObject {
        var members: JSONObject = [:]
        members["opener_client"] = self?.installation.map { .string($0.description) }
        members["opener_session"] = self?.session.map { .string($0.description) }
        members["opener_browser"] = self?.browser.map { .string($0.description) }
        return members
    }
}

extension Passkey: ShownState {
    static func place(of stream: UUID) -> [String] { ["passkeys", stream.description] }

    func members(_ context: ShownContext) -> JSONObject? {
        guard let enrolled, !isRemoved else { return nil }
        var members: JSONObject = [
            "relying_party": .string(enrolled.relyingParty),
            "model": .string(enrolled.key.model.description),
            "backup_eligible": .bool(enrolled.key.isBackupEligible),
            "trusted": .bool(enrolled.key.isTrusted), "counter": .integer(counter),
            "enrolled_at": .string(enrolled.enrolledAt.description),
        ]
        members["client"] = enrolled.client.map { .string($0.description) }
        return members
    }
}

extension TwoFactor: ShownState {
    static func place(of stream: UUID) -> [String] { ["two_factor"] }

    func members(_ context: ShownContext) -> JSONObject? {
        guard let enrolledAt else { return nil }
        return [
            "enrolled_at": .string(enrolledAt.description),
            "recovery_codes": .integer(Int64(recoveryCodes.count)),
        ]
    }
}

extension Passphrase: ShownState {
    static func place(of stream: UUID) -> [String] { ["passphrase"] }

    func members(_ context: ShownContext) -> JSONObject? {
        setAt.map {
            ["set_at": .string($0.description), "hashed_on_device": .bool(derived != nil)]
        }
    }
}

extension ProviderIdentity: ShownState {
    static func place(of stream: UUID) -> [String] { ["identities", stream.description] }

    /// The state knows whom it signs in; each of its events names the provider.
    func members(_ context: ShownContext) -> JSONObject? {
        guard account != nil, account == context.account,
            let provider = context.last.open["provider"]
        else { return nil }
        return ["provider": provider]
    }
}
