import Cryptography
import Values

/// A person who is not known yet shares a key with all unknown persons of that month.
func anonymousSubject(_ at: Timestamp) -> UUID {
    anonymousSubject(month: String(at.description.prefix(7)))
}

/// Those of all months that a clock may show.
let anonymousSubjects = Set(
    (1970...2199).flatMap { year in
        (1...12).map { anonymousSubject(month: "\(year)-" + ($0 < 10 ? "0" : "") + "\($0)") }
    })

private func anonymousSubject(month: String) -> UUID {
    UUID.v8(SHA256.hash(Array("urd anonymous \(month)".utf8)))
}
