internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// The rules by which findings are found, as a realm has them.
enum FindingRuleRoutes {
    static let table: [Route<AdminContext>] = [list, set]

    private static let list = Route.whole(
        "/api/admin/realms/{realm}/finding-rules", id: "listFindingRules",
        commandLine: .urd("finding rules", examples: "urd finding rules --realm demo"),
        tag: "Findings", summary: "List the rules for findings with their thresholds.",
        permission: .auditRead, of: shape, 0...100, "One for each rule."
    ) { call throws(Problem) in
        let rules = try await call.configuration(FindingRules.self, of: FindingRules.stream)
        return FindingRule.allCases.sorted().map { rules[$0] }
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
        answer: .written(.ok, "The rule as it is now.", shape),
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
        return Response.json(.ok, shape.json(terms)).at(done)
    }

    /// Of all rules: which of them a rule has, the handler says.
    private static let thresholds: [Member] =
        FindingThreshold.Name.allCases.sorted().map { name in
            .optional(name.rawValue, number, name.sentence)
        }
    private static let number = Schema.integer(0...10_000_000)

    private static let shape: Shape<FindingTerms> = {
        let shown = FindingRules()[.bruteForce]
        return Shape(
            "FindingRule",
            .required(
                "rule", FindingSchema.rules, "Name of the rule.", \.rule.rawValue,
                example: .string(shown.rule.rawValue)),
            .required(
                "about", .text(1...200), "Description of the rule.", \.rule.sentence,
                example: .string(shown.rule.sentence)),
            .required(
                "enabled", "Whether the rule is on.", \.isEnabled, example: shown.isEnabled.json),
            .required(
                "level", .oneOf(FindingLevel.allCases.map(\.rawValue)),
                "Risk level of the rule's findings, unless a finding has its own.",
                \.rule.level.rawValue, example: .string(shown.rule.level.rawValue)),
            .required(
                "thresholds", .map(of: number), "Current thresholds of the rule.",
                { $0.thresholds(onlyChanged: false) },
                example: .object(shown.thresholds(onlyChanged: false))),
            .required(
                "defaults", .map(of: number), "Default thresholds of the rule.",
                { FindingRules()[$0.rule].thresholds(onlyChanged: false) },
                example: .object(shown.thresholds(onlyChanged: false))))
    }()
}

extension FindingRuleChange.SetRejection: Refusal {
    var problem: Problem {
        switch self {
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
