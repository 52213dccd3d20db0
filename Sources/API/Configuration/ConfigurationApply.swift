internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

extension Call<AdminContext> {
    /// A planner that has compared the configuration in the body with the realm.
    func planned(prunes: Bool? = nil) async throws(Problem) -> ConfigurationPlanner {
        let realm = try realm
        guard realm != .system else { throw Problem(.reservedRealm, field: "realm") }
        let known = try await context.ask(RealmView.byName, (), in: realm)
        if known?.isDisabled == true { throw Problem(.realmDisabled) }
        guard let configuration = body["configuration"]?.object else {
            throw Problem(.invalidField, "It must be an object.", field: "configuration")
        }
        var planner = ConfigurationPlanner(
            configuration, secrets: body["secrets"]?.object ?? [:],
            prunes: prunes ?? body["prune"]?.bool ?? false,
            trial: ConfigurationTrial(self, in: realm))
        try await planner.run(isNewRealm: known == nil)
        return planner
    }

    /// Applies the configuration in the body: what a trial decided is appended as one commit of the realm.
    func applyConfiguration() async throws(Problem) -> Response {
        let applied = ConfigurationApplication(self, in: try realm)
        var isBegun = false
        for _ in 0..<4 {
            let planner = try await planned()
            let plan = planner.plan
            if let fault = plan.faults.first {
                throw Problem(.configurationInvalid, fault.sentence, field: fault.path)
            }
            if plan.isEmpty { return try await applied.response(plan) }
            if !isBegun, let shown = body["plan"]?.string, shown != plan.digest {
                throw try await applied.overtaken("something else would change than was shown")
            }
            switch try await applied.append(planner) {
            case .done: return try await applied.response(plan)
            case .half: isBegun = true
            case .lost: break
            }
        }
        throw Problem(.contended)
    }
}

extension ConfigurationFault {
    var sentence: String { hint.isEmpty ? "\(what)." : "\(what): \(hint)" }
}

/// One application of a configuration: what it appends is one correlation, and of one actor.
private final class ConfigurationApplication: Sendable {
    enum Outcome {
        case done
        /// The realm's commit is there, and the system's is not.
        case half
        /// Something that the plan relied on has changed.
        case lost
    }

    private let call: Call<AdminContext>
    private let realm: RealmID
    private let file: String
    private let write: Write
    private let origin: Origin

    init(_ call: Call<AdminContext>, in realm: RealmID) {
        self.call = call
        self.realm = realm
        file =
            call.body["file"]?.string
            ?? Hex.encode(SHA256.hash((call.body["configuration"] ?? .null).canonical()))
        write = call.write(in: realm)
        var origin = write.origin
        origin.actor = AppliedConfiguration.actor(ofFile: file)
        origin.correlation = origin.correlation ?? Self.newTrace()
        self.origin = origin
    }

    func append(_ planner: ConfigurationPlanner) async throws(Problem) -> Outcome {
        let plan = planner.plan
        try await planner.trial.decide(
            AppliedConfigurationChange.record(
                file: file, by: call.caller.actor,
                changes: plan.changes.count + (plan.isNewRealm ? 1 : 0)))
        guard let positions = try await append(planner.trial.commits(in: realm)) else {
            return .lost
        }
        for effect in planner.trial.effects.all { try await effect(call, positions.first) }
        let ofSystem = planner.trial.commits(in: .system)
        if ofSystem.isEmpty { return .done }
        return try await append(ofSystem) == nil ? .half : .done
    }

    /// Nil where something has changed meanwhile.
    private func append(_ commits: [Commit]) async throws(Problem) -> Positions? {
        guard let commit = Commit.joined(commits, command: call.newID(), origin: origin) else {
            throw Problem(
                .configurationInvalid,
                "a name goes from one thing to another: apply that in two steps, first without it.")
        }
        let outcome = try await reading { () throws(LogFailure) in
            try await call.context.commands.events.append(commit)
        }
        switch outcome {
        case .won(let positions), .duplicate(let positions): return positions
        case .conflict: return nil
        case .taken(let kind):
            throw try await overtaken("a name has been taken meanwhile (\(kind))")
        case .misused: throw Problem(.internalError)
        }
    }

    /// Says which other configuration came first, if one did.
    func overtaken(_ what: String) async throws(Problem) -> Problem {
        let events = try await reading { () throws(LogFailure) in
            try await call.context.commands.events.stream(
                AppliedConfiguration.stream, after: 0, in: realm)
        }
        var sentence = what
        if let last = events.last, case .applied(_, let by, _)? = ConfigurationEvent(last) {
            sentence +=
                ": the last configuration is \(last.actor) of \(by), at position \(last.position)"
        }
        return Problem(.configurationChanged, "\(sentence). Plan again.")
    }

    /// With the end of the realm's log, which has all of the configuration.
    func response(_ plan: ConfigurationPlan) async throws(Problem) -> Response {
        let head = try await reading { () throws(LogFailure) in
            try await call.context.commands.events.head(of: realm)
        }
        return Response.json(.ok, plan.json).at(
            WriteReceipt(
                write: write,
                positions: Positions(epoch: head.epoch, first: head.position, count: 1)))
    }

    /// As W3C Trace Context has it.
    private static func newTrace() -> String {
        let bytes = SecretBytes.random(24).exposedCopy()
        return "00-\(Hex.encode(Array(bytes[..<16])))-\(Hex.encode(Array(bytes[16...])))-01"
    }
}
