/// By what a code goes to a person.
public enum Channel: String, CaseIterable, Sendable {
    case mail
    case sms
    case whatsapp

    /// Those that reach a phone number.
    public static let ofPhones: [Channel] = [.sms, .whatsapp]
}
