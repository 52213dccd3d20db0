import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `Client metadata` {
    @Test func `client metadata get their defaults`() throws {
        let metadata = try ClientMetadata(["redirect_uris": ["https://a.example/b"]])
        #expect(metadata.grantTypes == [.authorizationCode])
        #expect(metadata.responseTypes == [.code])
        #expect(metadata.authenticationMethod == .secretBasic)
        #expect(metadata.applicationType == .web)
        let native = try ClientMetadata([
            "grant_types": ["urn:cocoar:otp", "refresh_token"], "client_name": .null,
        ])
        #expect(native.responseTypes == [])
        #expect(native.members["response_types"] == [])
    }

    @Test func `client metadata come back as they were given`() throws {
        let given: JSONObject = [
            "client_name": "Café \u{1F600}", "redirect_uris": ["https://a.example/b?c=d"],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "private_key_jwt", "application_type": "web",
            "scope": "openid email", "contacts": ["a@example.org", "+41 1 234"],
            "client_uri": "https://a.example", "logo_uri": "https://a.example/logo.png",
            "policy_uri": "https://a.example/p", "tos_uri": "https://a.example/t",
            "jwks_uri": "https://a.example/keys", "software_id": "s", "software_version": "1.0",
            "access_token_lifetime": 60, "refresh_token_lifetime": 86_400,
            "app_id": "00000000-0000-0002-0000-000000000002", "access_token_format": "jwt",
            "access_token_signed_response_alg": "ES256", "id_token_signed_response_alg": "ES256",
            "audiences": ["https://api.example", "urn:example:files"],
            "resources": ["https://a.example/api"], "resources_listed_only": true,
            "introspection_signed_response_alg": "ES256",
            "introspects_all_tokens": true, "forwards_addresses": true, "consent": "none",
            "profile": "voo",
            "login_location": "bare", "subject_type": "pairwise",
            "sector_identifier_uri": "https://sector.example/uris",
            "userinfo_signed_response_alg": "RS256", "require_signed_request_object": true,
            "require_pushed_authorization_requests": true,
            "post_logout_redirect_uris": ["https://a.example/bye"],
            "backchannel_logout_uri": "https://a.example/out",
            "backchannel_logout_session_required": true,
        ]
        let metadata = try ClientMetadata(given)
        #expect(metadata.members == given)
        #expect(try ClientMetadata(metadata.members) == metadata)
    }

    @Test func `client metadata with pairwise subjects need a single sector`() throws {
        let two: JSON = ["https://a.example/b", "https://c.example/b"]
        #expect(
            fault(["subject_type": "pairwise", "redirect_uris": two])
                == FieldFault("sector_identifier_uri", .needed(by: "subject_type")))
        let named = try ClientMetadata([
            "subject_type": "pairwise", "redirect_uris": two,
            "sector_identifier_uri": "https://sector.example/uris",
        ])
        #expect(named.sector == "sector.example")
        let one = try ClientMetadata([
            "subject_type": "pairwise",
            "redirect_uris": ["https://a.example/b", "https://a.example/c"],
        ])
        #expect(one.sector == "a.example")
        #expect(try ClientMetadata(["redirect_uris": two]).sector == nil)
        #expect(
            fault(["sector_identifier_uri": "http://localhost/x"])
                == FieldFault("sector_identifier_uri", .unsafeScheme))
        #expect(
            fault(["userinfo_signed_response_alg": "none"])
                == FieldFault("userinfo_signed_response_alg", .unsupported))
        #expect(
            fault(["backchannel_logout_uri": "ftp://a.example"])
                == FieldFault("backchannel_logout_uri", .unsafeScheme))
    }

    @Test func `client metadata have a description of every member`() {
        let names = MetadataField.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(
            MetadataField.all.filter(\.isPersonal).map(\.name) == [
                "contacts", "software_statement", "notification_device_token",
            ])
        for field in MetadataField.all {
            #expect(!field.about.isEmpty)
            #expect(ClientMetadata.schema["properties"]?[field.name]?["type"] != nil)
        }
        let lifetime = ClientMetadata.schema["properties"]?["access_token_lifetime"]
        #expect(lifetime?["minimum"] == 60)
        #expect(lifetime?["type"] == "integer")
    }

    /// Metadata that is right but for these members.
    private func fault(_ members: JSONObject) -> FieldFault? {
        var metadata = webMetadata
        metadata.merge(members) { $1 }
        do throws(FieldFault) {
            _ = try ClientMetadata(metadata)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            ("no_such_member", 1, .unknown, nil),
            ("client_secret", "s", .unknown, nil),
            ("client_name", 1, .wrongType(expected: .text), nil),
            ("client_name", " ", .malformed, nil),
            ("client_name", "a\u{0}", .malformed, nil),
            ("client_name", "a\u{2066}b", .malformed, nil),
            ("client_name", "\u{200B}", .malformed, nil),
            ("client_name", "a\u{200B}b", .malformed, nil),
            ("client_name", "\u{200D}\u{FE0F}", .malformed, nil),
            ("client_name", "\u{3164}", .malformed, nil),
            ("client_name", "\u{2800}", .malformed, nil),
            ("client_name", "a\u{61C}b", .malformed, nil),
            (
                "client_name", .string(String(repeating: "a", count: 201)), .tooLong(limit: 200),
                nil
            ),
            ("redirect_uris", "https://a.example", .wrongType(expected: .list), nil),
            ("redirect_uris", ["https://a.example", 1], .wrongType(expected: .text), 1),
            ("redirect_uris", [], .missing, nil),
            ("redirect_uris", ["https://a.example", "https://a.example"], .duplicate, 1),
            (
                "redirect_uris", .array((0...50).map { .string("https://a.example/\($0)") }),
                .tooMany(limit: 50), nil
            ),
            ("grant_types", "authorization_code", .wrongType(expected: .list), nil),
            ("grant_types", ["authorization_code", "implicit"], .unsupported, 1),
            ("grant_types", ["implicit"], .unsupported, 0),
            ("grant_types", ["urn:cocoar:sms"], .unsupported, 0),
            ("grant_types", ["authorization_code", "authorization_code"], .duplicate, 1),
            ("grant_types", [], .missing, nil),
            (
                "grant_types", ["client_credentials", "authorization_code"],
                .conflicts(with: "client_credentials"), 1
            ),
            (
                "grant_types", ["client_credentials", "refresh_token"],
                .conflicts(with: "client_credentials"), 1
            ),
            (
                "grant_types", ["urn:cocoar:passkey", "client_credentials"],
                .conflicts(with: "client_credentials"), 0
            ),
            (
                "grant_types",
                ["urn:ietf:params:oauth:grant-type:device_code", "client_credentials"],
                .conflicts(with: "client_credentials"), 0
            ),
            ("access_token_format", "opaque", .unsupported, nil),
            ("access_token_signed_response_alg", "none", .unsupported, nil),
            ("id_token_signed_response_alg", "HS256", .unsupported, nil),
            ("audiences", ["https://api.example", "/relative"], .malformed, 1),
            ("audiences", ["https://api.example/#part"], .hasFragment, 0),
            (
                "audiences", [.string("https://a.example/" + String(repeating: "a", count: 2048))],
                .tooLong(limit: 2048), 0
            ),
            ("resources", ["https://api.example", "/relative"], .malformed, 1),
            ("resources", ["https://api.example/#part"], .hasFragment, 0),
            ("resources", ["https://a.example", "https://a.example"], .duplicate, 1),
            ("resources_listed_only", "true", .wrongType(expected: .flag), nil),
            ("introspection_signed_response_alg", "none", .unsupported, nil),
            ("introspects_all_tokens", "true", .wrongType(expected: .flag), nil),
            ("forwards_addresses", 1, .wrongType(expected: .flag), nil),
            ("response_types", ["token"], .unsupported, 0),
            ("response_types", ["code", "code"], .duplicate, 1),
            ("response_types", [], .conflicts(with: "grant_types"), nil),
            ("token_endpoint_auth_method", "client_secret_jwt", .unsupported, nil),
            ("token_endpoint_auth_method", true, .wrongType(expected: .text), nil),
            (
                "token_endpoint_auth_method", "private_key_jwt",
                .needed(by: "token_endpoint_auth_method"), nil
            ),
            ("application_type", "desktop", .unsupported, nil),
            ("scope", ["openid"], .wrongType(expected: .text), nil),
            ("scope", "openid openid", .duplicate, 1),
            ("scope", "a\"b", .malformed, 0),
            ("scope", "a é", .malformed, 1),
            ("scope", .string(String(repeating: "a", count: 129)), .tooLong(limit: 128), 0),
            (
                "scope", .string((0...100).map { "s\($0)" }.joined(separator: " ")),
                .tooMany(limit: 100), nil
            ),
            ("contacts", [""], .malformed, 0),
            ("contacts", .array((0...10).map { .string("c\($0)") }), .tooMany(limit: 10), nil),
            (
                "contacts", ["a", .string(String(repeating: "a", count: 255))],
                .tooLong(limit: 254), 1
            ),
            ("client_uri", "ftp://a.example", .unsafeScheme, nil),
            ("logo_uri", "data:image/png;base64,AAAA", .unsafeScheme, nil),
            ("policy_uri", "javascript:alert(1)", .unsafeScheme, nil),
            ("tos_uri", "https://a.example/#terms", .hasFragment, nil),
            ("jwks_uri", "http://localhost/keys", .unsafeScheme, nil),
            ("jwks_uri", "https://a:b@a.example/keys", .hasUserInfo, nil),
            ("software_id", "", .malformed, nil),
            (
                "software_version", .string(String(repeating: "1", count: 101)),
                .tooLong(limit: 100), nil
            ),
            ("access_token_lifetime", 1, .outOfRange(lowest: 60, highest: 604_800), nil),
            ("access_token_lifetime", "60", .wrongType(expected: .number), nil),
            (
                "refresh_token_lifetime", 1,
                .outOfRange(lowest: 86_400, highest: 315_360_000), nil
            ),
            ("app_id", "shop", .malformed, nil),
            ("app_id", 1, .wrongType(expected: .text), nil),
        ] as [(String, JSON, FieldFault.Reason, Int?)])
    func `client metadata's problem names the member at fault`(
        name: String, value: JSON, reason: FieldFault.Reason, index: Int?
    ) {
        let field = reason == .needed(by: "token_endpoint_auth_method") ? "jwks" : name
        #expect(fault([name: value]) == FieldFault(field, reason, at: index))
    }

    @Test func `client metadata of client_credentials alone need a secret or a key`() {
        let itself: JSONObject = [
            "grant_types": ["client_credentials"], "redirect_uris": .null,
        ]
        #expect(fault(itself) == nil)
        #expect(
            fault(itself.merging(["token_endpoint_auth_method": "none"]) { $1 })
                == FieldFault(
                    "grant_types", .conflicts(with: "token_endpoint_auth_method"), at: 0))
        #expect(
            fault(itself.merging(["response_types": ["code"]]) { $1 })
                == FieldFault("response_types", .conflicts(with: "grant_types")))
    }
}

@Suite struct `A client's keys` {
    private func fault(_ keys: JSON) -> FieldFault.Reason? {
        var metadata = webMetadata
        metadata["token_endpoint_auth_method"] = "private_key_jwt"
        metadata["jwks"] = keys
        do throws(FieldFault) {
            _ = try ClientMetadata(metadata)
            return nil
        } catch {
            #expect(error.field == "jwks")
            return error.reason
        }
    }

    private let publicKey: JSON = ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "1"]

    @Test func `a client's keys must be public`() {
        #expect(fault(["keys": [publicKey]]) == nil)
        #expect(fault(["keys": [rsa(bits: 2048)]]) == nil)
        #expect(fault(["keys": [["kty": "OKP", "crv": "Ed25519", "x": "AA"]]]) == nil)
        for part in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
            var key = publicKey.object ?? [:]
            key[part] = "AA"
            #expect(fault(["keys": [publicKey, .object(key)]]) == .privateKey)
        }
        #expect(fault(["keys": [["kty": "oct", "k": "AA"]]]) == .privateKey)
    }

    @Test func `a client's keys must be valid and few`() {
        #expect(fault([]) == .wrongType(expected: .object))
        #expect(fault([:]) == .malformed)
        #expect(fault(["keys": "AA"]) == .malformed)
        #expect(fault(["keys": []]) == .missing)
        #expect(fault(["keys": ["AA"]]) == .malformed)
        #expect(fault(["keys": [["kid": "1"]]]) == .malformed)
        #expect(fault(["keys": [["kty": "EC", "crv": "P-256", "x": "AA"]]]) == .malformed)
        #expect(fault(["keys": [["kty": "RSA", "n": "", "e": "AQAB"]]]) == .malformed)
        #expect(fault(["keys": [["kty": "oct"]]]) == .unsupported)
        #expect(
            fault(["keys": .array(Array(repeating: publicKey, count: 11))]) == .tooMany(limit: 10))
        let long = String(repeating: "A", count: 16_384)
        #expect(
            fault(["keys": [["kty": "RSA", "n": .string(long), "e": "AQAB"]]])
                == .tooLong(limit: 16_384))
    }

    private func rsa(bits: Int, _ more: JSONObject = [:]) -> JSON {
        let modulus: [UInt8] = [0x80] + Array(repeating: 1, count: bits / 8 - 1)
        let key: JSONObject = [
            "kty": "RSA", "n": .string(Base64URL.encode(modulus)), "e": "AQAB",
        ]
        return .object(key.merging(more) { $1 })
    }

    private func point(_ more: JSONObject) -> JSON {
        .object((publicKey.object ?? [:]).merging(more) { $1 })
    }

    @Test func `a client's keys must fit its signing algorithms`() throws {
        let useless: [JSON] = [
            rsa(bits: 1024), rsa(bits: 2040), rsa(bits: 8200), rsa(bits: 2048, ["alg": "RS512"]),
            rsa(bits: 2048, ["alg": "RSA-OAEP"]), point(["use": "enc"]), point(["use": 1]),
            point(["key_ops": ["encrypt"]]), point(["key_ops": []]), point(["alg": "ECDH-ES"]),
            point(["alg": "ES384"]), point(["alg": "none"]), point(["crv": "P-521"]),
            point(["crv": "secp256k1"]), point(["kid": ""]), point(["kid": 1]),
            ["kty": "OKP", "crv": "X25519", "x": "AA"],
        ]
        for key in useless {
            #expect(fault(["keys": [key]]) == .unsupported, "\(key)")
            // Beside one that can it does no harm.
            #expect(fault(["keys": [key, point(["kid": "other"])]]) == nil, "\(key)")
        }
        #expect(fault(["keys": .array(Array(useless.prefix(10)))]) == .unsupported)
        for key in [
            rsa(bits: 4096, ["alg": "PS256", "use": "sig", "x5c": ["AA"], "x5t": "AA"]),
            rsa(bits: 2048, ["key_ops": ["sign", "verify"], "e": "Aw"]),
            point(["crv": "P-384", "alg": "ES384"]), point(["alg": "ES256"]),
            ["kty": "OKP", "crv": "Ed25519", "x": "AA", "alg": "EdDSA"],
            ["kty": "OKP", "crv": "Ed25519", "x": "AA", "alg": "Ed25519"],
        ] as [JSON] { #expect(fault(["keys": [key]]) == nil, "\(key)") }
        // Who shows a secret signs nothing by them.
        var metadata = webMetadata
        metadata["jwks"] = ["keys": [point(["use": "enc"])]]
        #expect(try ClientMetadata(metadata).jwks != nil)
    }

    @Test func `a client's keys need distinct ids`() {
        #expect(fault(["keys": [publicKey, publicKey]]) == .duplicate)
        #expect(fault(["keys": [publicKey, point(["x": "AB", "alg": "ES256"])]]) == .duplicate)
        // Keys of two kinds may be the same to who signs (RFC 7517 section 4.5), and one of the two
        // may be for encryption.
        #expect(fault(["keys": [publicKey, rsa(bits: 2048, ["kid": "1"])]]) == nil)
        #expect(fault(["keys": [publicKey, point(["use": "enc"])]]) == nil)
        let nameless: JSON = ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"]
        #expect(fault(["keys": [nameless]]) == nil)
        #expect(fault(["keys": [nameless, nameless]]) == .unsupported)
        #expect(fault(["keys": [nameless, nameless, publicKey]]) == nil)
    }

    @Test func `a client's keys stand either in jwks or at jwks_uri`() {
        var metadata = webMetadata
        metadata["jwks"] = ["keys": [publicKey]]
        metadata["jwks_uri"] = "https://a.example/keys"
        #expect(throws: FieldFault("jwks", .conflicts(with: "jwks_uri"))) {
            try ClientMetadata(metadata)
        }
    }
}
