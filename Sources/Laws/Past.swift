import Values

/// What laws share of what stands before an event, and what they found.
struct Past {
    let first: Int64
    /// Of the event that is looked at.
    var position: Int64
    var second: Int64 = 0
    var findings = Findings()

    /// Nil: not known, because the log begins in the middle.
    var isDisabled: Bool?
    /// The realm's own limit of wrong guesses.
    var otpAttempts: Int64?
    var streams = NoteTable()
    let accounts = Memory<Account> { account, _ in account.isDeleted && account.isErased }
    let clients = Memory<Client>()
    /// Whether each app is there.
    let apps = Memory<Bool>()
    let sessions = Memory<Opened> { $0.isOver(at: $1) }
    let browsers = Memory<Opened> { $0.isOver(at: $1) }

    init(from first: Int64) {
        self.first = first
        position = first - 1
        if first == 1 { isDisabled = false }
    }

    /// Whether the log is known from its first event on.
    var isWhole: Bool { first == 1 }

    mutating func broken(_ law: Int, at place: Int64? = nil, _ what: @autoclosure () -> String) {
        findings.broken[law, default: 0] += 1
        guard findings.broken[law, default: 0] <= shownViolations else { return }
        findings.violations.append(
            .init(law: law, position: place ?? position, what: what()))
    }

    mutating func unknown(_ law: Int) {
        findings.unknown[law, default: 0] += 1
    }

    /// Something that must have been there before: a violation, but where the past is not known.
    /// - Parameter mayBeForgotten: whether it may have been there, and be lawful still.
    mutating func missing(
        _ law: Int, mayBeForgotten: Bool = false, _ what: @autoclosure () -> String
    ) {
        if isWhole, !mayBeForgotten { broken(law, what()) } else { unknown(law) }
    }

    struct Findings {
        var violations: [LawFindings.Violation] = []
        var broken: [Int: Int64] = [:]
        var unknown: [Int: Int64] = [:]
    }
}

private let shownViolations = 20

/// How long after its end a thing is remembered: what comes a little late is judged by what it was.
private let kept: Int64 = 86_400

/// Whether an end lies so far back that a thing need not be remembered.
func isPast(_ end: Int64?, _ second: Int64) -> Bool {
    end.map { $0 + kept < second } ?? false
}

struct Account {
    /// How often all sessions of the account were ended.
    var stamp: Int64 = 0
    var moves: Int64 = 0
    var removals: Int64 = 0
    /// How often its mailed proofs were ended.
    var generation: Int64 = 0
    /// The last removal of access from each place.
    var removed: [Place: Int64] = [:]
    var isDisabled = false
    var isDeleted = false
    var isErased = false
    /// The second of a scheduled deletion.
    var due: Int64?

    /// The state that keeps the person from signing in.
    var obstacle: String? {
        if isDeleted { return "deleted" }
        if isDisabled { return "disabled" }
        return due == nil ? nil : "to be deleted"
    }
}

struct Client {
    var isDisabled = false
    var isDeleted = false
    var isCertified = false
}

/// From where access can be taken away.
enum Place: Hashable {
    case client(UUID)
    case device(UUID)
    case browser(UUID, isOffline: Bool)

    init?(_ data: Members) {
        if let client = data.identifier("client") {
            self = .client(client)
        } else if let device = data.identifier("federated_device") {
            self = .device(device)
        } else if let browser = data.identifier("browser") {
            self = .browser(browser, isOffline: data.isTrue("offline"))
        } else {
            return nil
        }
    }
}

/// A session or a browser, as it was opened.
struct Opened {
    let account: UUID?
    let client: UUID?
    let openerClient: UUID?
    let browser: UUID?
    let device: UUID?
    let isOffline: Bool
    let stamp: Int64
    let moves: Int64
    let removals: Int64
    let restsOnMailbox: Bool
    let isFlagship: Bool
    let expiresAt: Int64
    /// The sessions that it came of or hangs on.
    let above: [UUID]
    var generation: Int64 = 0
    var parent: Int64?
    var hasEnded = false

    init(_ data: Members) {
        account = data.identifier("account")
        client = data.identifier("client")
        openerClient = data.identifier("opener_client")
        browser = data.identifier("browser")
        device = data.identifier("federated_device")
        isOffline = data.isTrue("offline")
        stamp = data.integer("stamp") ?? 0
        moves = data.integer("moves") ?? 0
        removals = data.integer("removals") ?? 0
        let methods = data.texts("amr")
        restsOnMailbox = !methods.isEmpty && methods.allSatisfy { $0 == "otp" || $0 == "mail" }
        isFlagship = data.texts("scope").contains("*")
        expiresAt = data.integer("expires_at") ?? .max
        let origins = [data.identifier("exchanged"), data.identifier("opener_session")]
        above = origins.compactMap(\.self) + data.identifiers("superiors")
    }

    var places: [Place] {
        [
            client.map { .client($0) }, openerClient.map { .client($0) },
            device.map { .device($0) }, browser.map { .browser($0, isOffline: isOffline) },
        ].compactMap(\.self)
    }

    func isOver(at second: Int64) -> Bool {
        hasEnded || isPast(expiresAt == .max ? nil : expiresAt, second)
    }
}
