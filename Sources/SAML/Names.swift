/// Names of XML, of its signatures and of SAML that are read here.
enum Names {
    static let assertion = "urn:oasis:names:tc:SAML:2.0:assertion"
    static let signature = "http://www.w3.org/2000/09/xmldsig#"
    static let exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#"
    static let enveloped = signature + "enveloped-signature"
    static let more = "http://www.w3.org/2001/04/xmldsig-more#"
    static let encryption = "http://www.w3.org/2001/04/xmlenc#"
    static let bearer = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
    static let entity = "urn:oasis:names:tc:SAML:2.0:nameid-format:entity"
    static let unspecified = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"
    static let instance = "http://www.w3.org/2001/XMLSchema-instance"
}
