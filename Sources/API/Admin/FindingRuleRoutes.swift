internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// The rules by which findings are found, as a realm has them.
enum FindingRuleRoutes {
    static let table: [Route<AdminContext>] = [list, set]

    private static let list = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/finding-rules", id: "listFindingRules",
        commandLine: .urd("finding rules", examples: "urd finding rules --realm demo"),
        tag: "Findings", summary: "List the rules for findings with their thresholds.",
        right: .realm, permission: .auditRead, parameters: [.realm],
        answer: Lists.whole(
            "FindingRuleList", of: schema, 0...100, "One for each rule.", example: example),
        refusals: [.noSuchRealm]
    ) { call throws(Problem) in
        let realm = try call.realm
        let standing = try await call.standing()
        let events = try await reading { () throws(LogFailure) in
            try await call.context.commands.events.stream(FindingRules.stream, after: 0, in: realm)
        }
        if events.isEmpty { try await call.knownRealm() }
        var rules = FindingRules()
        for recorded in events {
            guard let event = FindingRulesEvent(recorded) else { throw Problem(.logDamaged) }
            rules.apply(event)
        }
        return Lists.whole(
            FindingRule.allCases.sorted().map { json(rules[$0]) }, at: standing)
    }

    private static let set = Route<AdminContext>(
        .put, "/api/admin/realms/{realm}/finding-rules/{rule}", id: "setFindingRule",
        commandLine: .urd(
            "finding set-rule",
            examples: "urd finding set-rule brute_force --failures 20 --window 600 --realm demo",
            "urd finding set-rule new_source --enabled false --realm demo"),
        tag: "Findings", summary: "Set a rule for findings: its thresholds and whether it is on.",
        detail: """
            What is not named is as the rule has it by itself. It holds for what happens from then on.
            """, right: .realm,
        parameters: [
            .realm,
            Parameter(
                "rule", in: .path, FindingSchema.ruleName, "The rule's name.",
                example: "brute_force"), .idempotencyKey,
        ],
        body: Body(
            schema: .named(
                "FindingRuleTerms",
                .object(
                    [.optional("enabled", .boolean, "Whether the rule is on; it is by default.")]
                        + thresholds)),
            example: ["failures": 20, "window": 600]),
        answer: .written(.ok, "The rule as it is now.", schema, example: example),
        refusals: [.noSuchRealm, .realmDisabled, .invalidParameter]
    ) { call throws(Problem) in
        let rule = try FindingSchema.rule(try call.required("rule"))
        var asked: [String: Int64] = [:]
        for (name, value) in call.body.object ?? [:] where name != "enabled" {
            guard rule.thresholds.contains(where: { $0.name.rawValue == name }) else {
                let known = rule.thresholds.map(\.name.rawValue)
                throw Problem(
                    .unknownField,
                    "\(rule.rawValue) has no \(name)"
                        + "\(NearestName.hint(for: name, among: known)): it has "
                        + "\(known.joined(separator: ", ")).", field: name)
            }
            asked[name] = value.integer
        }
        let done = try await call.run(
            FindingRuleChange.set(
                rule, isEnabled: call.body["enabled"]?.bool ?? true, thresholds: asked),
            as: call.write(in: try call.realm))
        let terms: FindingTerms
        do throws(FieldFault) {
            terms = try FindingTerms(
                rule, isEnabled: call.body["enabled"]?.bool ?? true, asked)
        } catch {
            throw Problem(of: error)
        }
        return Response.json(.ok, json(terms)).at(done)
    }

    /// Of all rules: which of them a rule has, the handler says.
    private static let thresholds: [Member] =
        FindingThreshold.Name.allCases.sorted().map { name in
            .optional(name.rawValue, number, name.sentence)
        }
    private static let number = Schema.integer(0...10_000_000)

    private static let schema = Schema.named(
        "FindingRule",
        .object(
            .required("rule", FindingSchema.rules, "Name of the rule."),
            .required("about", .text(1...200), "Description of the rule."),
            .required("enabled", .boolean, "Whether the rule is on."),
            .required(
                "level", .oneOf(FindingLevel.allCases.map(\.rawValue)),
                "Risk level of the rule's findings, unless a finding has its own."),
            .required("thresholds", .map(of: number), "Current thresholds of the rule."),
            .required("defaults", .map(of: number), "Default thresholds of the rule.")))

    private static let example = json(FindingRules()[.bruteForce])

    private static func json(_ terms: FindingTerms) -> JSON {
        let own = FindingRules()[terms.rule]
        return [
            "rule": .string(terms.rule.rawValue), "about": .string(terms.rule.sentence),
            "enabled": .bool(terms.isEnabled), "level": .string(terms.rule.level.rawValue),
            "thresholds": .object(terms.thresholds(onlyChanged: false)),
            "defaults": .object(own.thresholds(onlyChanged: false)),
        ]
    }
}

extension FindingRuleChange.SetRejection: Refusal {
    var problem: Problem {
        switch self {
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
