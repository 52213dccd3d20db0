public import EventSourcing

/// Realms for checks, new each time, so that one log can be checked again and again.
public enum ConformanceRealm {
    public static func fresh() -> RealmID {
        var random = SystemRandomNumberGenerator()
        let number = String(random.next(), radix: 16)
        guard let realm = RealmID("check-\(number)") else {
            preconditionFailure("A prefix and hexadecimal digits make a realm's name.")
        }
        return realm
    }
}
