internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The schemas of a client's metadata, made from the list of its fields.
enum ClientSchema {
    static let clientID = Schema.text(
        1...128, .some(Characters("-._~a-zA-Z0-9"), 1...128))

    static let clientSecret = Schema.text(
        43...43, .some(Characters("-a-zA-Z0-9_"), 43...43))

    /// A null counts as left out (RFC 7591 section 2).
    static let members: [Member] = MetadataField.all.map { field in
        .optional(field.name, .nullable(schema(of: field)), field.about)
    }

    static let metadata = Schema.named("ClientMetadata", .object(members))

    static let registration = Schema.named(
        "NewClient",
        .object(
            [.optional("client_id", clientID, "OAuth client id; generated if it is left out.")]
                + members))

    /// A client as it is answered.
    static let shape = Shape<ClientView>(
        "Client",
        of: [
            .required("client_id", clientID, "OAuth client id.", \.clientID, example: UUID.example),
            .required(
                "client_id_issued_at", .integer(0...JSON.exactIntegers.upperBound),
                "Registration time, in seconds since 1970.", \.issuedAt.seconds,
                example: 1_795_224_225),
            .required("enabled", "Whether the client may get and use tokens.", { !$0.isDisabled }),
        ]
            + MetadataField.all.map {
                .added(
                    .optional($0.name, schema(of: $0), $0.about), example: exampleAnswered[$0.name])
            },
        over: { client in
            var metadata = client.metadata
            // It stands beside the metadata, for the log.
            metadata["vouched_for"] = nil
            return metadata
        })

    /// The same with its secret, which is shown when it is made and never again.
    static let freshShape = shape.adding(
        "FreshClient",
        .added(
            .optional(
                "client_secret", clientSecret,
                "Client secret, shown in this response and in repeats of it only."),
            example: .string(String(repeating: "A", count: 43))),
        .added(
            .optional(
                "client_secret_expires_at", .integer(0...0),
                "Expiry time of the secret; always 0: it is valid until it is rotated."),
            example: 0))

    private static let exampleAnswered: JSON = [
        "client_name": "Web shop", "redirect_uris": ["https://shop.example.com/signed-in"],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic", "application_type": "web",
        "scope": "openid email",
    ]

    static let exampleMetadata: JSON = [
        "client_name": "Web shop", "redirect_uris": ["https://shop.example.com/signed-in"],
        "grant_types": ["authorization_code", "refresh_token"], "scope": "openid email",
    ]

    /// All but what the field itself describes is as narrow as a pattern can say; the domain's own
    /// rules have the last word.
    static func schema(of field: MetadataField) -> Schema {
        narrow[field.name] ?? converted(field.schema)
    }

    private static let narrow: [String: Schema] = [
        "client_name": .text(1...200, Names.showable(200)),
        "software_id": .text(1...200, Names.showable(200)),
        "software_version": .text(1...100, Names.showable(100)),
        "software_statement": .text(1...16_384),
        "contacts": .list(of: .text(1...254, Names.showable(254)), 0...10, unique: true),
        "redirect_uris": .list(
            of: .text(1...2000, Names.redirectPlace), 0...50, unique: true),
        "webauthn_rp_id": .text(1...253, Names.host),
        "scope": .text(0...Scope.longest, Names.scope),
        "grant_types": .list(
            of: .oneOf(GrantType.allCases.map(\.rawValue)), 1...GrantType.allCases.count,
            unique: true),
    ]

    private static func converted(_ schema: JSONObject) -> Schema {
        switch schema["type"]?.string {
        case "string":
            if let values = schema["enum"]?.array { return .oneOf(values.compactMap(\.string)) }
            switch schema["format"]?.string {
            case "uri": return .text(8...2000, Names.webAddress, format: "uri")
            case "uuid": return Fields.id
            default: return .text(0...10_000)
            }
        case "integer":
            let limits = JSON.exactIntegers
            return .integer(
                (schema["minimum"]?.integer
                    ?? limits.lowerBound)...(schema["maximum"]?.integer ?? limits.upperBound))
        case "boolean": return .boolean
        case "array":
            let most = schema["maxItems"]?.integer.flatMap { Int(exactly: $0) } ?? 100
            return .list(
                of: converted(schema["items"]?.object ?? [:]), count: 0...most,
                unique: schema["uniqueItems"]?.bool ?? false)
        case "object": return .openObject
        default: return .anything
        }
    }
}
