import COpenSSL

/// One X.509 certificate (RFC 5280) that a peer sent.
///
/// It only tells what it says: whether to believe it is the business of `CertificateChain` and of
/// the format it came in. Exactly one certificate and nothing behind it, so that two byte strings
/// are never the same certificate.
@safe
public final class Certificate: @unchecked Sendable {
    /// Attestation certificates have less than 2 KiB; what is longer is not looked at.
    public static let maximumLength = 16_384

    public let der: [UInt8]
    let pointer: OpaquePointer

    public convenience init(der: [UInt8]) throws(Failure) {
        try unsafe self.init(der: der, context: nil)
    }

    /// The same, and sooner, for a certificate whose key is of an elliptic curve. Other encodings are malformed here.
    /// Only what was read so itself should verify it, or be verified by it: else keys are carried over.
    public convenience init(ofCurve der: [UInt8]) throws(Failure) {
        try unsafe self.init(der: der, context: CurveReading.shared?.pointer)
        guard unsafe X509_get0_pubkey(pointer) != nil else {
            throw Failure.afterCall("X509_get0_pubkey", .malformed)
        }
    }

    private init(der: [UInt8], context: OpaquePointer?) throws(Failure) {
        guard der.count <= Certificate.maximumLength else {
            throw Failure(.tooLarge, "a certificate of \(der.count) bytes")
        }
        var consumed = 0
        let parsed = unsafe der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            var parsed = unsafe X509_new_ex(context, nil)
            // Where it fails, it frees the certificate and sets it to nil.
            if unsafe parsed != nil, unsafe d2i_X509(&parsed, &position, bytes.count) == nil {
                return nil
            }
            if let start = bytes.baseAddress, let position = unsafe position {
                consumed = unsafe position - start
            }
            return unsafe parsed
        }
        guard let parsed = unsafe parsed else { throw Failure.afterCall("d2i_X509", .malformed) }
        guard consumed == der.count else {
            unsafe X509_free(parsed)
            throw Failure(.malformed, "bytes behind a certificate")
        }
        unsafe pointer = unsafe parsed
        self.der = der
    }

    deinit { unsafe X509_free(pointer) }

    /// 3 for every certificate that can have extensions.
    public var version: Int { Int(unsafe X509_get_version(pointer)) + 1 }

    public func publicKey() throws(Failure) -> VerifyingKey {
        try unsafe VerifyingKey(
            EVPKey(owning: X509_get_pubkey(pointer), from: "X509_get_pubkey", .malformed))
    }

    /// The key as it stands there, without saying of what kind it is: for elliptic curves, a point.
    public var publicKeyBytes: [UInt8] {
        guard let bits = unsafe X509_get0_pubkey_bitstr(pointer),
            let start = unsafe ASN1_STRING_get0_data(bits)
        else { return [] }
        let length = Int(unsafe ASN1_STRING_length(bits))
        return unsafe Array(UnsafeBufferPointer(start: start, count: length))
    }

    /// What its basic constraints say; nil when it has none.
    public var isAuthority: Bool? {
        var critical: Int32 = 0
        guard
            let constraints = unsafe X509_get_ext_d2i(
                pointer, NID_basic_constraints, &critical, nil)
        else {
            ERR_clear_error()
            return nil
        }
        let typed = unsafe constraints.assumingMemoryBound(to: BASIC_CONSTRAINTS.self)
        defer { unsafe BASIC_CONSTRAINTS_free(typed) }
        return unsafe typed.pointee.ca != 0
    }

    /// Validity by time alone, without the chain.
    public func isValid(at seconds: Int64) -> Bool {
        var time = time_t(seconds)
        return unsafe X509_cmp_time(X509_get0_notBefore(pointer), &time) < 0
            && X509_cmp_time(X509_get0_notAfter(pointer), &time) > 0
    }

    /// The other one's name is the issuer here, and its key made the signature. Keys that
    /// `VerifyingKey` refuses issue nothing: who sends a chain decides how much there is to compute.
    public func isIssued(by other: Certificate) -> Bool {
        defer { ERR_clear_error() }
        guard
            unsafe X509_NAME_cmp(
                X509_get_issuer_name(pointer), X509_get_subject_name(other.pointer)) == 0,
            let key = try? other.publicKey().key()
        else { return false }
        return unsafe X509_verify(pointer, key.pointer) == 1
    }

    public var isSelfSigned: Bool { isIssued(by: self) }

    public var isSubjectEmpty: Bool {
        unsafe X509_NAME_entry_count(X509_get_subject_name(pointer)) == 0
    }

    /// The values that the subject has for an attribute, by the attribute's dotted number.
    public func subject(_ attribute: String) -> [String] {
        guard let name = unsafe X509_get_subject_name(pointer),
            let object = unsafe OBJ_txt2obj(attribute, 1)
        else { return [] }
        defer { unsafe ASN1_OBJECT_free(object) }
        var values: [String] = []
        var index: Int32 = -1
        while true {
            index = unsafe X509_NAME_get_index_by_OBJ(name, object, index)
            guard index >= 0, let entry = unsafe X509_NAME_get_entry(name, index) else { break }
            if let value = unsafe text(X509_NAME_ENTRY_get_data(entry)) { values.append(value) }
        }
        return values
    }

    private func text(_ string: UnsafeMutablePointer<ASN1_STRING>?) -> String? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let length = unsafe ASN1_STRING_to_UTF8(&bytes, string)
        guard length >= 0, let bytes = unsafe bytes else {
            ERR_clear_error()
            return nil
        }
        defer { unsafe CRYPTO_free(bytes, nil, 0) }
        let buffer = unsafe UnsafeBufferPointer(start: bytes, count: Int(length))
        return unsafe String(validating: buffer, as: UTF8.self)
    }

    public struct Extension: Sendable, Equatable {
        public let isCritical: Bool
        /// What stands inside of its octet string.
        public let value: [UInt8]
    }

    /// An extension by its dotted number; `.malformed` when it stands there twice.
    public func `extension`(_ identifier: String) throws(Failure) -> Extension? {
        guard let object = unsafe OBJ_txt2obj(identifier, 1) else {
            throw Failure.afterCall("OBJ_txt2obj")
        }
        defer { unsafe ASN1_OBJECT_free(object) }
        let index = unsafe X509_get_ext_by_OBJ(pointer, object, -1)
        guard index >= 0, let found = unsafe X509_get_ext(pointer, index) else { return nil }
        guard unsafe X509_get_ext_by_OBJ(pointer, object, index) < 0 else {
            throw Failure(.malformed, "an extension that stands twice")
        }
        guard let data = unsafe X509_EXTENSION_get_data(found),
            let start = unsafe ASN1_STRING_get0_data(data)
        else { return nil }
        let length = Int(unsafe ASN1_STRING_length(data))
        return unsafe Extension(
            isCritical: X509_EXTENSION_get_critical(found) != 0,
            value: Array(UnsafeBufferPointer(start: start, count: length)))
    }
}
