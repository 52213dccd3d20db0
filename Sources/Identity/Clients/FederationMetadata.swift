public import JSON

/// What a service of the federation profile says of itself.
extension MetadataField {
    static let federation: [MetadataField] = [
        .web(
            "federation_endpoint", \.federationEndpoint,
            "The service's token endpoint, where it has one of its own"),
        .texts(
            "federation_attributes", \.federationAttributes, limit: 20,
            "Attributes of people that the service gets; name, names and mail address by default"
        ) { text throws(FieldFault.Reason) in
            guard FederationAttribute(rawValue: text) != nil else { throw .unsupported }
        },
        optional(
            .choice(
                "assertion_signed_response_alg", \.assertionSignature, default: .hs256,
                "Algorithm for assertions to the service: with its secret, or with a key of the realm"
            ), unless: { $0.assertionSignature == .hs256 }),
        optional(
            .choice(
                "assertion_encrypted_response_alg", \.assertionEncryption, default: .none,
                "Encryption of assertions to the service, to a key of its jwks"),
            unless: { $0.assertionEncryption == .none }),
        description,
        .web(
            "service_description_uri", \.serviceHost,
            "URL at whose host the service publishes its offers (services.txt)"),
    ]

    /// A field that is left out where it has the default, as for nearly all clients.
    private static func optional(
        _ field: MetadataField,
        unless isUsual: @escaping @Sendable (ClientMetadata.Members) -> Bool
    ) -> MetadataField {
        MetadataField(
            name: field.name, about: field.about, schema: field.schema, isPersonal: false,
            get: { isUsual($0) ? nil : field.get($0) }, set: field.set, check: field.check)
    }

    private static var description: MetadataField {
        MetadataField(
            name: "service_description", about: "Offers of the service (RSD2)",
            schema: ["type": "object"], isPersonal: false,
            get: { $0.serviceDescription },
            set: { metadata, value throws(FieldFault) in
                guard value.object != nil else {
                    throw FieldFault("service_description", .wrongType(expected: .object))
                }
                metadata.serviceDescription = value
            },
            check: { metadata throws(FieldFault) in
                guard let said = metadata.serviceDescription else { return }
                guard said.canonical().count <= ServiceDescription.limit else {
                    throw FieldFault(
                        "service_description", .tooLong(limit: ServiceDescription.limit))
                }
                guard ServiceDescription.isReadable(said) else {
                    throw FieldFault("service_description", .malformed)
                }
            })
    }
}

/// What services may be told of people.
public enum FederationAttribute: String, CaseIterable, Sendable {
    case email
    case name
    case givenName = "given_name"
    case familyName = "family_name"
    case locale
    case phone = "phone_number"
    case affiliations

    /// What a service is told for which nothing else was said.
    public static let usual: [FederationAttribute] = [.email, .name, .givenName, .familyName]
}

/// What a service offers (RSD2), as far as it is looked at.
public enum ServiceDescription {
    /// In bytes.
    public static let limit = 16 * 1024

    /// It names its engine, and each of its interfaces by a link.
    public static func isReadable(_ said: JSON) -> Bool {
        guard said["engineLink"]?.string != nil, let interfaces = said["apis"]?.object,
            interfaces.count <= 100
        else { return false }
        return interfaces.values.allSatisfy { $0["apiLink"]?.string != nil }
    }
}
