import Values

@testable import Laws

/// A log of one account's many sessions, made as it is taken.
struct MadeLog {
    var laws: Lawbook
    private(set) var position: Int64
    private(set) var second: Int64 = 1_790_000_000
    private var versions: [UUID: Int32] = [:]
    private let account = UUID(high: 1, low: 1)
    private let client = UUID(high: 2, low: 1)

    init(from first: Int64 = 1) {
        laws = Lawbook(from: first)
        position = first - 1
        guard first == 1 else {
            versions[Self.session(0)] = 1
            return
        }
        add("client.registered", client, #"{"client_id":"app"}"#)
        add("account.registered", account, #"{"confirmed":true,"origin":"code"}"#)
    }

    static func session(_ number: Int) -> UUID { UUID(high: 3, low: UInt64(number)) }

    mutating func open(_ number: Int, expires: Int64 = 9_000) {
        add(
            "session.opened", Self.session(number),
            """
            {"account":"\(account)","amr":["otp"],"client":"\(client)","client_id":"app",\
            "expires_at":\(second + expires),"offline":true,"opened_at":\(second),"resources":[],\
            "scope":["openid"],"stamp":0}
            """)
    }

    mutating func refresh(_ number: Int, generation: Int = 1) {
        add("session.refreshed", Self.session(number), #"{"generation":\#(generation)}"#)
    }

    mutating func end(_ number: Int) {
        add("session.ended", Self.session(number), #"{"reason":"revoked"}"#)
    }

    mutating func add(_ type: String, _ stream: UUID, _ data: String = "{}", after: Int64 = 1) {
        position += 1
        second += after
        versions[stream, default: 0] += 1
        let (type, data, meta) = (Array(type.utf8), Array(data.utf8), Array(#"{"actor":"a"}"#.utf8))
        type.withUnsafeBytes { type in
            data.withUnsafeBytes { data in
                meta.withUnsafeBytes { meta in
                    laws.take(
                        LoggedEvent(
                            position: position, at: second * 1_000_000,
                            command: UUID(high: 4, low: UInt64(position)), stream: stream,
                            subject: nil, isSealed: false, type: type,
                            version: versions[stream, default: 1], data: data, meta: meta))
                }
            }
        }
    }

    /// Nothing happens for a while.
    mutating func wait(_ seconds: Int64) { second += seconds }
}
