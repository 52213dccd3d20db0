internal import Cryptography
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import SAML

/// Whether the certificates and keys among a realm's settings can ever verify anything. The domain looks at their form;
/// what they hold is read here, as it will be where it is used.
enum KeySettings {
    static func check(_ changes: JSONObject) throws(Problem) {
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            guard let setting = SettingCatalogue.all.first(where: { $0.name == name }) else {
                continue
            }
            switch setting.kind {
            case .certificates: try check(name, value) { CertificateText.der($0) }
            case .attestationRoots: try check(name, value) { AttestationRoot($0)?.der }
            case .issuers: try checkIssuers(name, value)
            case .flag, .seconds, .count, .choice, .label, .webAddress, .mailAddress, .hostName,
                .domain, .origins, .resources, .scopes, .regions, .selection, .apps, .certifiedApps,
                .colour, .mailWords, .roles, .rates:
                break
            }
        }
    }

    /// What has not even the form of a certificate, the domain refuses.
    private static func check(
        _ name: String, _ value: JSON, _ form: (String) -> [UInt8]?
    ) throws(Problem) {
        for (index, text) in (value.array ?? []).enumerated() {
            guard !DisclosedKey.isFound(in: text), let der = text.string.flatMap(form) else {
                continue
            }
            let place = "\(name)/\(index)"
            guard let certificate = try? Certificate(der: der) else {
                throw Problem(
                    .invalidField, "\(place) is not an X.509 certificate.", field: place)
            }
            guard (try? certificate.publicKey()) != nil else { throw unusable(place) }
        }
    }

    private static func checkIssuers(_ name: String, _ value: JSON) throws(Problem) {
        for issuer in (value.object ?? [:]).values where !DisclosedKey.isFound(in: issuer) {
            for (index, text) in (issuer["certificates"]?.array ?? []).enumerated() {
                guard let text = text.string else { continue }
                let what = "\(name): certificates/\(index)"
                do throws(SAML.Key.Fault) {
                    _ = try SAML.Key(text: text)
                } catch {
                    switch error {
                    case .unreadable:
                        throw Problem(
                            .invalidField,
                            "\(what) is neither an X.509 certificate nor a public key, in PEM.",
                            field: name)
                    case .unsupported:
                        throw unusable(
                            what, "RSA of 2048 to 8192 bits, P-256 or P-384", field: name)
                    }
                }
            }
            guard let keys = issuer["jwks"], keys["keys"]?.array?.isEmpty == false else { continue }
            guard (try? KeySet(jwks: keys))?.keys.isEmpty == false else {
                throw unusable(
                    "\(name): jwks", "RSA of 2048 to 8192 bits, P-256, P-384 or Ed25519",
                    field: name)
            }
        }
    }

    private static func unusable(
        _ what: String, _ usable: String = "RSA of 2048 to 8192 bits, or on a known curve",
        field: String? = nil
    ) -> Problem {
        Problem(
            .invalidField, "\(what) has no key that verifies anything here: \(usable).",
            field: field ?? what)
    }
}
