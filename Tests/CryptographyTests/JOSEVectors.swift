@testable import Cryptography

/// The unpadded Base64url that the vectors of JOSE are printed in.
func base64URL(_ text: String) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var decoded: [UInt8] = []
    var bits = 0
    var count = 0
    for letter in text.utf8 {
        guard let value = alphabet.firstIndex(of: letter) else { continue }
        bits = (bits << 6 | value) & 0xfff
        count += 6
        if count >= 8 {
            count -= 8
            decoded.append(UInt8(bits >> count & 0xff))
        }
    }
    return decoded
}

/// RFC 7515, appendix A.2 and A.3.
enum RFC7515 {
    private static let payload = """
        eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ
        """
    static let messageRS256 = Array("eyJhbGciOiJSUzI1NiJ9.\(payload)".utf8)
    static let messageES256 = Array("eyJhbGciOiJFUzI1NiJ9.\(payload)".utf8)

    static let modulus = base64URL(
        """
        ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4
        d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5re
        xMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxX
        FvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ
        """)
    static let exponent = base64URL("AQAB")
    static let signatureRS256 = base64URL(
        """
        cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5
        jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb
        1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QO
        YEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
        """)

    static let x = base64URL("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
    static let y = base64URL("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
    static let signatureES256 = base64URL(
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
}
