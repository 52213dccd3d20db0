import Cryptography
import EventSourcing
import EventStore
import Identity
import JSON
import Telemetry
import Values

/// Gives up what a realm's database lost, so that its log is sealed again.
struct LogAccept: Subcommand {
    static let path = ["log", "accept"]
    static let summary =
        "Accept that a realm lost the end of its log, after a failover or a restore"
    static let examples = ["urd log accept --realm demo"]
    static let details = """
        A sealer that knows of a larger checkpoint than the database halts with lost_checkpoints or
        log_is_shorter: acknowledged events are gone. Without --size this says what is lost, as far as
        this machine's checkpoint file knows it. With --size it says so, puts the acceptance on record in
        the realm's log, and the sealers of all nodes go on by themselves. What was signed up to that
        size no longer binds; what is signed from now on does. Each node keeps the checkpoint that it
        gave up beside its file, as <realm>.given-up-<size>.
        """
    static let options = [
        RealmOption.option,
        Option.value(
            "size", "size", "Up to which size checkpoints are given up, as the sealers say it"),
        Option.json,
    ]
    static let settings = Store.settings
    static let consequence = Consequence.destructive(
        "gives up acknowledged events and the checkpoints that were signed over them, for good",
        with: "size")

    func run(_ call: Invocation) async throws -> ExitCode {
        let named = try RealmOption(call)
        let realm = named.realm
        let size = try call.arguments.position("size")
        let settings = try call.settings()
        let store = try Store(settings)
        defer { store.close() }
        try await store.checkSchema()
        try await named.requireExists(
            in: store,
            remedy:
                "If the database lost the realm as a whole, create it again, or give it up: move its "
                + "file away from the checkpoint directory of each node.")
        let found = try await LogLoss.look(
            at: realm, store.database, keyring: store.keyring,
            directory: settings[Settings.checkpointDirectory])
        call.console.complain(Self.words(found, of: realm, givingUp: size))
        guard let size else {
            guard let copy = found.copy, !found.isCopyOfThisLog else { return .success }
            throw CommandFailure(
                "nothing was accepted",
                remedy: "To accept it: urd log accept --realm \(realm) --size \(copy)")
        }
        if let copy = found.copy, !found.isCopyOfThisLog, copy > size {
            throw CommandFailure(
                "nothing was accepted: this machine's checkpoint has size \(copy), more than \(size)",
                remedy: "To accept that: urd log accept --realm \(realm) --size \(copy)")
        }
        let loss = try await accept(size, found, realm, store)
        var members = loss.fields
        members["realm"] = .string(realm.name)
        var table = Table("realm", "given up to", "sealed to", "head", "epoch")
        table.add(
            realm.name, String(loss.size), String(loss.sealed), String(loss.head),
            String(loss.epoch))
        call.console.write(
            table, json: .object(members), asJSON: call.arguments.has("json"))
        return .success
    }

    private func accept(
        _ size: Int64, _ found: LogLoss, _ realm: RealmID, _ store: Store
    ) async throws -> AcceptedLoss {
        // What is signed from now on has another epoch than all that is given up.
        let epoch = try await LogLoss.advanceEpoch(of: realm, from: found.epoch, store.database)
        _ = try await store.log.head(of: realm)
        let loss = AcceptedLoss(size: size, epoch: epoch, sealed: found.shared, head: found.head)
        var random = SystemRandom()
        let now = store.now(in: realm)
        _ = try await store.dispatcher.dispatch(
            RealmChange.acceptLoss(loss), in: realm, id: .v7(at: now, using: &random),
            origin: Origin(actor: "operator:\(Operator.name)", at: now))
        return loss
    }

    /// What is lost, for the person who is to decide.
    static func words(_ found: LogLoss, of realm: RealmID, givingUp size: Int64?) -> String {
        let state =
            "The log of realm \(realm) ends at position \(found.head), and its last checkpoint in "
            + "the database covers \(found.sealed) events (epoch \(found.epoch))."
        let known: String
        switch found.copy {
        case let copy? where !found.isCopyOfThisLog && copy > found.shared:
            let written = found.copiedAt.map { " and written at \($0)" } ?? ""
            let lost = "what stood at positions \(found.shared + 1) to \(copy) then is lost"
            let later = "What the database has sealed behind \(found.shared) may be of later."
            known =
                "This machine's checkpoint was signed over \(copy) events\(written): \(lost), or was "
                + "altered."
                + (found.sealed > found.shared ? " " + later : "")
        case let copy? where !found.isCopyOfThisLog:
            known =
                "This machine's checkpoint was signed over \(copy) events, and not over this log: "
                + "some of what stood there then is lost, or was altered."
        default: known = "This machine's checkpoint directory knows of no loss."
        }
        guard let size else { return "\(state)\n\(known)" }
        return "\(state)\n\(known)\nAccepting: checkpoints of up to \(size) events that are not of "
            + "this log are given up on every node, and so are the events in them."
    }
}
