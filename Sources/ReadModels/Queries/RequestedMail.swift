public import JSON
public import Values

/// The mail that an event asks for, as the read model of mails sees it.
public enum RequestedMail {
    private static let names = Set(
        (Projection.all.first { $0.name == "mails" }?.types ?? []).filter { !$0.hasPrefix("mail.") }
    )

    public static func id(by name: String, _ fields: JSONObject) -> UUID? {
        guard names.contains(name) else { return nil }
        return (fields["mail"] ?? fields["otp"])?.string.flatMap { UUID($0) }
    }
}
