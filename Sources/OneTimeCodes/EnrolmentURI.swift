internal import Cryptography
internal import HTTP
internal import Values

/// What an authenticator app reads from the QR code, in the form that Google's app began and all
/// others took over ("Key URI Format").
extension TOTP {
    /// So many bytes of each name, which keeps the code small enough for a telephone's camera.
    private static let longestName = 128

    /// It shows the secret: to be sent to its owner once, and kept nowhere.
    ///
    /// `issuer` and `account` are shown by the app. A colon would end the issuer for apps that
    /// undo the escapes first, so it becomes a space; an overlong name is cut.
    public func enrolmentURI(issuer: String, account: String) -> String {
        let issuer = Percent.encode(Self.name(issuer))
        let account = Percent.encode(Self.name(account))
        // The defaults are said all the same: a few apps have others.
        return "otpauth://totp/\(issuer):\(account)?secret=\(text)&issuer=\(issuer)"
            + "&algorithm=SHA1&digits=\(Self.digits)&period=\(Self.period)"
    }

    /// The secret for who has no camera, as apps take it: Base 32 without padding.
    public var text: String { Base32.encode(secret.exposedCopy()) }

    private static func name(_ text: String) -> String {
        var name = ""
        for character in text {
            let character: Character = character == ":" ? " " : character
            guard name.utf8.count + character.utf8.count <= longestName else { break }
            name.append(character)
        }
        return name
    }
}
