package import EventSourcing
package import JSON
package import Values

/// The changes of an installation.
package enum InstallationChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<Client>, Rejection>
    package typealias NotFound = Identity.NotFound<Client>

    package enum RegisterRejection: Error, Equatable, Sendable {
        /// The realm is not of the profile.
        case notOffered
        case idTaken
        /// Another installation has the name.
        case nameTaken
        case invalid(FieldFault)
    }

    /// Lets an app on a device become known to a realm of the flagship profile. The app has no permission yet.
    /// - Parameter id: The client's stream: it says when it was made.
    /// - Parameter metadata: As the app says it.
    package static func register(
        _ id: UUID, metadata: JSONObject, secret: SecretDigest
    ) -> Change<RegisterRejection> {
        Change(
            of: id, isNew: true,
            whenTaken: .idTaken, byKind: [Installation.nameClaim("").kind: .nameTaken]
        ) { facts throws(RegisterRejection) in
            guard facts.realm.state.settings.rules.hasOwner else {
                throw .notOffered
            }
            guard !facts.thing.exists else { throw .idTaken }
            let checked: ClientMetadata
            do throws(FieldFault) {
                checked = try InstallationMetadata.read(metadata)
            } catch {
                throw .invalid(error)
            }
            let clientID = Installation.clientID(of: id)
            var decision = Decision(
                ClientEvent.registered(clientID: clientID, metadata: checked, secret: secret),
                in: id)
            decision.take(Client.claim(clientID), for: id)
            decision.take(Installation.nameClaim(checked.clientName ?? ""), for: id)
            return decision
        }
    }

    /// Another secret, in the place of the one that was in force when it was derived.
    package struct SecretRotation: Sendable, Equatable {
        package var replaced: SecretDigest
        package var secret: SecretDigest

        package init(replaced: SecretDigest, secret: SecretDigest) {
            self.replaced = replaced
            self.secret = secret
        }
    }

    package enum UpdateRejection: Error, Equatable, Sendable {
        case notFound
        case nameTaken
        /// It got another secret in the meantime.
        case secretReplaced
        case invalid(FieldFault)
    }

    /// Replaces what an installation said of itself, and its secret if it asks for another one. One that leads
    /// elsewhere from then on, or is another software, has to be certified anew.
    /// - Parameter metadata: As the app says it.
    package static func update(
        _ id: UUID, metadata: JSONObject, rotation: SecretRotation? = nil, now: Timestamp
    ) -> Change<UpdateRejection> {
        Change(of: id, at: now, whenTaken: .nameTaken) {
            facts, now throws(UpdateRejection) in
            guard let current = facts.thing.installation(at: now) else { throw .notFound }
            let checked: ClientMetadata
            do throws(FieldFault) {
                checked = try InstallationMetadata.read(metadata)
            } catch {
                throw .invalid(error)
            }
            if let rotation, facts.thing.state.secret != rotation.replaced { throw .secretReplaced }
            var decision = Decision()
            if checked != current { decision.append(ClientEvent.updated(checked), in: id) }
            let isSame =
                checked.redirectURIs == current.redirectURIs
                && checked.softwareID == current.softwareID
            if !isSame, facts.thing.state.certification != nil {
                decision.append(ClientEvent.certificationRevoked(.metadataChanged, at: now), in: id)
            }
            if let rotation {
                decision.append(ClientEvent.secretRotated(rotation.secret), in: id)
            }
            if let name = checked.clientName, let before = current.clientName, name != before {
                decision.take(Installation.nameClaim(name), for: id)
                decision.release(Installation.nameClaim(before), by: id)
            }
            return decision
        }
    }

    /// Takes an installation's certification back: tokens for everything do not work until it is certified anew.
    package static func revokeCertification(
        _ installation: UUID, now: Timestamp
    ) -> Change<NotFound> {
        Change(of: installation, at: now) { facts, now throws(NotFound) in
            guard facts.thing.aliveMetadata?.isInstallation == true else { throw .notFound }
            guard facts.thing.state.certification != nil else { return Decision() }
            return Decision(ClientEvent.certificationRevoked(.revoked, at: now), in: installation)
        }
    }

    package enum ForgetRejection: Error, Equatable, Sendable {
        /// The installation does not exist, or has not lapsed.
        case notLapsed
    }

    /// Removes an installation that the owner did not let in within an hour.
    package static func forget(_ id: UUID, now: Timestamp)
        -> EventSourcing.Change<Versioned<Client>, ForgetRejection>
    {
        .init(of: id, at: now) { client, now throws(ForgetRejection) in
            guard let metadata = client.aliveMetadata, client.state.isLapsed(id, at: now) else {
                throw .notLapsed
            }
            var decision = Decision(ClientEvent.deleted, in: id)
            decision.release(Client.claim(client.state.clientID), by: id)
            decision.release(Installation.nameClaim(metadata.clientName ?? ""), by: id)
            return decision
        }
    }
}

/// What an installation may say of itself.
enum InstallationMetadata {
    static let names: Set<String> = [
        "redirect_uris", "client_name", "software_id", "software_version", "client_kind",
        "client_os", "client_uri", "logo_uri", "policy_uri", "notification_platform",
        "notification_device_token", "notifications",
    ]

    static func read(_ members: JSONObject) throws(FieldFault) -> ClientMetadata {
        // Apps send what they do not know as empty.
        var said = members.filter { names.contains($0.key) && $0.value != .string("") }
        for name in ["redirect_uris", "client_name", "software_id"]
        where said[name] == nil || said[name] == .null || said[name] == .array([]) {
            throw FieldFault(name, .missing)
        }
        // Some write it in capitals.
        if let platform = said["notification_platform"]?.string {
            said["notification_platform"] = .string(platform.lowercased())
        }
        said["grant_types"] = .texts(ClientMetadata.installationGrants.map(\.rawValue))
        said["response_types"] = .array([])
        said["token_endpoint_auth_method"] = .string(AuthenticationMethod.secretPost.rawValue)
        said["application_type"] = .string(ApplicationType.native.rawValue)
        said["scope"] = .string(Installation.scope)
        return try ClientMetadata(said)
    }
}
