internal import HTML
internal import Identity

extension ReturnTarget {
    /// The same for another account than the one that had to sign in again: what was begun in one
    /// account is not done in another.
    static func asAnother(_ target: String) -> String {
        guard target.utf8.starts(with: "/account/".utf8) else { return target }
        return "\(Place.accountPath)?done=\(AccountNote.otherPerson.rawValue)"
    }

    var fields: HTML {
        HTML {
            if let sealed {
                HTML.element(.input, .type("hidden"), .name("continue"), .value(sealed))
            }
            if let path {
                HTML.element(.input, .type("hidden"), .name("next"), .value(path.text))
            }
            if asOther { Parts.hidden("other", "1") }
        }
    }
}
