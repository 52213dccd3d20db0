internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What people see of their own passkeys, and do with them. Passkeys of other accounts are not found.
enum PasskeyListRoutes {
    static let table: [Route<RealmContext>] = [list, rename, remove]

    private static let path: PathTemplate = "/connect/passkey/{id}"
    private static let id = Parameter("id", in: .path, .text(1...64), "Passkey id.")

    private static let list = Route<RealmContext>(
        .get, "/connect/passkey", id: "listPasskeys", tag: "Passkeys",
        summary: "Lists the passkeys of the signed-in user, newest first.", right: .account,
        voice: .native,
        answer: .ok(
            "The passkeys.", .list(of: shape.schema, 0...Passkey.mostPerAccount), example: []),
        refusals: Place.refusals + [.nativeGrantsDisabled]
    ) { call throws(Problem) in
        try await call.requireNativeGrantsOfSession()
        var items: [JSON] = []
        for passkey in try await RealmLookups(call.context).passkeys(
            of: try call.caller.signedIn.account)
        {
            let name = try await RealmLookups(call.context).name(of: passkey)
            items.append(shape.json((passkey, name)))
        }
        return .native(.ok, .array(items))
    }

    private static let shape = Shape<(passkey: PasskeyView, name: String)>(
        .required("Id", "Passkey id, which the authenticator does not know.", \.passkey.id),
        .required(
            "DisplayName", .text(1...100), "Display name, chosen by the owner of the passkey.",
            \.name, example: "Phone"),
        .required("CreatedAt", "Enrolment time.", \.passkey.enrolledAt),
        .optional("LastUsedAt", "Time of the last sign-in with the passkey.", \.passkey.usedAt))

    private static let rename = Route<RealmContext>(
        .patch, path, id: "renamePasskey", tag: "Passkeys", summary: "Names a passkey.",
        right: .account, voice: .native, parameters: [id],
        body: Body(
            schema: .object(
                .required(
                    "DisplayName", .text(1...100),
                    "Display name, chosen by the owner of the passkey.")),
            example: ["DisplayName": "Phone"]),
        answer: .done("The passkey is renamed."),
        refusals: Place.refusals + [.nativeGrantsDisabled, .noSuchPasskey]
    ) { call throws(Problem) in
        try await call.requireNativeGrantsOfSession()
        let (account, session) = try call.caller.signedIn
        guard let passkey = UUID(try call.required("id")) else { throw Problem(.noSuchPasskey) }
        try await Commands(call).dispatch(
            PasskeyChange.rename(
                passkey, account: account,
                name: call.body["DisplayName"]?.string ?? ""),
            as: .user(account, client: session.terms.clientID))
        return Response(status: .noContent)
    }

    private static let remove = Route<RealmContext>(
        .delete, path, id: "deletePasskey", tag: "Passkeys",
        summary: "Removes a passkey: it can no longer be used to sign in.",
        detail: "The account's person is told by mail.", right: .account, voice: .native,
        parameters: [id],
        answer: .done("The passkey is removed."),
        refusals: Place.refusals + [
            .nativeGrantsDisabled, .noSuchPasskey, .reauthenticationRequired,
        ]
    ) { call throws(Problem) in
        try await call.requireNativeGrantsOfSession()
        let (account, session) = try call.caller.signedIn
        guard let passkey = UUID(try call.required("id")) else { throw Problem(.noSuchPasskey) }
        try await Commands(call).dispatch(
            DeletePasskey(
                passkey: passkey, account: account,
                session: SignedIn(
                    client: session.terms.client, app: session.terms.app,
                    at: session.terms.signedInAt
                ),
                mail: call.context.newID(), now: call.context.clock.now()),
            as: .user(account, client: session.terms.clientID))
        return Response(status: .noContent)
    }
}

extension PasskeyChange.RenameRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchPasskey)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension DeletePasskey.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchPasskey)
        case .signInTooOld(let limit): .signInTooOld(limit)
        }
    }
}
