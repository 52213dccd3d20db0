internal import QRCode

extension QRCode {
    static func picture(of uri: String) throws(Problem) -> QRCode {
        do {
            return try QRCode(uri)
        } catch {
            throw Problem(.internalError)
        }
    }
}
