internal import Cryptography
internal import EventSourcing
internal import Identity
internal import ReadModels
internal import SecurityKeys
internal import Values

/// For whom a passkey is made or used: the domain, and what is set about it.
struct PasskeyParty: Sendable {
    let id: String
    let settings: Settings
    /// The site of our own pages, where passkeys are asked for by one.
    var page: String?

    /// Nil where the realm has no domain for passkeys, or the client chose one that is not ours.
    init?(_ settings: Settings, chosenBy domain: String?) {
        guard let id = PasskeyDomain.id(settings, chosenBy: domain) else { return nil }
        self.id = id
        self.settings = settings
    }

    var relyingParty: RelyingParty {
        RelyingParty(
            id: id,
            origins: Set(
                settings[SettingCatalogue.passkeyOrigins] + ["https://\(id)"]
                    + [page].compactMap { $0 }),
            allowsSubdomains: settings[SettingCatalogue.passkeySubdomains],
            allowsLocalPorts: id == "localhost")
    }

    var name: String { settings[SettingCatalogue.displayName] }

    var attestation: AttestationDemand { settings[SettingCatalogue.passkeyAttestation] }

    /// Nil where a root that was set is no certificate: then no attestation is trusted.
    var policy: AttestationPolicy? {
        switch attestation {
        case .none: return .unasked
        case .direct: break
        }
        let chosen = settings[SettingCatalogue.passkeyAttestationFormats]
        let formats = AttestationFormat.allCases.filter {
            $0 != .none && (chosen.isEmpty || chosen.contains($0.rawValue))
        }
        var roots: [AttestationFormat: [Certificate]] = [:]
        for text in settings[SettingCatalogue.passkeyAttestationRoots] {
            guard let root = AttestationRoot(text),
                let certificate = try? Certificate(der: root.der)
            else { return nil }
            for format in root.formats(of: chosen).compactMap(AttestationFormat.init(rawValue:)) {
                roots[format, default: []].append(certificate)
            }
        }
        return AttestationPolicy(
            formats: Set(formats), acceptsSelf: roots.isEmpty, acceptsUntrusted: roots.isEmpty,
            roots: roots)
    }
}

extension RealmLookups {
    /// For a client that belongs to an app and may have chosen a domain.
    func passkeyParty(app: UUID?, domain: String?) async throws(Problem) -> PasskeyParty? {
        try await settings(ofApp: app).flatMap { PasskeyParty($0, chosenBy: domain) }
    }
}
