internal import HTTP
internal import Identity
internal import JSON

/// What the profile's scripts ask before and after a form that has an ID. Every form passes: the captcha and the limits
/// are asked where a code is sent.
enum FormScreeningRoutes {
    static let table: [Route<RealmContext>] = [screen, complete]

    private static let refusals: [ProblemKind] = Place.refusals + [.forbidden]

    private static let screen = Route<RealmContext>(
        .get, "/screening/form", id: "screenTenantForm", tag: "Verify",
        summary: "Says whether a form may be sent: always.", right: .nothing, voice: .verify,
        parameters: [
            Tenant.key,
            Parameter(
                "identifier", in: .query, .text(0...320),
                "Mail address or phone number, which is ignored."),
            Parameter("form-id", in: .query, .text(0...255), "Form id, which is ignored."),
        ],
        answer: .ok(
            "Result of the screening.",
            .object(.required("passed", .boolean, "Result of the screening; always true.")),
            example: ["passed": true]), refusals: refusals, traits: .forScripts
    ) { call throws(Problem) in
        _ = try await call.tenant(call.request.headers[Tenant.keyHeader])
        return .json(.ok, ["passed": true])
    }

    private static let completion: Body = {
        var body = Body(schema: .object([]), example: [:])
        body.mayBeMissing = true
        return body
    }()

    private static let complete = Route<RealmContext>(
        .post, "/completion/form", id: "completeTenantForm", tag: "Verify",
        summary: "Hears that a form was sent, and keeps nothing of it.", right: .nothing,
        voice: .verify, parameters: [Tenant.key], body: completion,
        answer: .ok(
            "Result of the request.",
            .object(.required("success", .boolean, "Result of the request; always true.")),
            example: ["success": true]), refusals: refusals, traits: .forScripts
    ) { call throws(Problem) in
        _ = try await call.tenant(call.request.headers[Tenant.keyHeader])
        return .json(.ok, ["success": true])
    }
}
