internal import HTTP

extension Request {
    /// Nil without the cookie, and for several of the same name: it is unknown which one was meant.
    func cookie(_ name: String) -> String? {
        var found: [String] = []
        for line in headers.all("Cookie") {
            for pair in line.utf8.split(separator: UInt8(ascii: ";")) {
                let pair = pair.drop { $0 == 0x20 }
                guard let sign = pair.firstIndex(of: UInt8(ascii: "=")),
                    pair[..<sign].elementsEqual(name.utf8)
                else { continue }
                found.append(String(decoding: pair[sign...].dropFirst(), as: UTF8.self))
            }
        }
        return found.count == 1 ? found.first : nil
    }
}

/// The cookies of pages. Their prefix has browsers take them from this very host alone, over a
/// secure connection (RFC 6265bis section 4.1.3.2).
enum PageCookie: String, CaseIterable {
    /// The browser session.
    case session = "__Host-urd"
    /// What forms are bound to.
    case form = "__Host-urd-form"
    /// Which provider the user was sent to, and what for.
    case upstream = "__Host-urd-provider"
    /// That its user typed a mailed code in it not long ago.
    case trust = "__Host-urd-trust"

    /// `seconds`: nil until the browser is closed.
    func line(_ value: String, seconds: Int64? = nil) -> String {
        let age = seconds.map { "; Max-Age=\($0)" } ?? ""
        return "\(rawValue)=\(value); Path=/\(age); Secure; HttpOnly; SameSite=Lax"
    }

    var removal: String { line("", seconds: 0) }
}

/// The cookie of a web app's place under the name that apps of the flagship profile look for (COZ-21). They
/// put it into their own web views: no response sets it, and the realm's own host does not take it.
enum WebAppCookie {
    static let name = "cozysessid"

    /// Such apps need a domain, and set it for the realm's host and what is below it.
    static func line(_ value: String, host: String) -> String {
        let domain = host.split(separator: ":").first ?? ""
        return "\(name)=\(value); Path=/; Domain=\(domain); HttpOnly"
    }
}
