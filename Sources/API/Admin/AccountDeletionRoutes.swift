internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// How accounts come to their end.
enum AccountDeletionRoutes {
    static let table: [Route<AdminContext>] = [schedule, cancel, erase]

    private static let schedule = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/accounts/{account_id}", id: "deleteAccount",
        commandLine: .urd("account delete", examples: "urd account delete ann@example.org"),
        tag: "Accounts", summary: "Schedule the deletion of an account.",
        detail: """
            From now on its person is kept out and all its sessions are over. Until \
            `deletion_due` an administrator can call it off; then all that is personal is erased. A link \
            by which its person could call off a deletion of their own is worth nothing any more.
            """,
        right: .realm, parameters: [.realm, AccountRoutes.accountID, .idempotencyKey],
        answer: .written(.ok, "The account.", AccountView.shape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchAccount]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let account = try call.requiredID("account_id")
        let command = AccountChange.scheduleDeletion(
            account, mail: write.newID("mail"), isAdministrators: true,
            now: write.origin.at)
        return try await call.account(.ok, account, try await call.run(command, as: write))
    }

    private static let cancel = AccountRoutes.simple(
        "cancel-deletion", id: "cancelAccountDeletion",
        commandLine: .urd(
            "account cancel-deletion", examples: "urd account cancel-deletion ann@example.org"),
        "Cancel the deletion of an account.",
        detail: "Sessions that ended stay ended."
    ) { account, _ in AccountChange.cancelDeletion(account) }

    private static let erase = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/accounts/{account_id}/erase", id: "eraseAccount",
        commandLine: .urd(
            "account erase", examples: "urd account erase ann@example.org --dry-run",
            "urd account erase ann@example.org"),
        tag: "Accounts", summary: "Delete an account now, and erase its personal data for ever.",
        detail: """
            Ends the account's sessions, gives up its mail address and destroys the keys under \
            which all that is personal is sealed. The events stay, and so does the proof that \
            they are unchanged. This can't be undone.
            """,
        right: .realm, parameters: [.realm, AccountRoutes.accountID, .idempotencyKey],
        answer: .written(
            .ok, "The receipt.",
            .named(
                "AccountErasure",
                .object(
                    .required("account", Fields.id, "Id of the erased account."),
                    .required(
                        "position", Fields.position, "Position of the erasure in the realm's log."))
            ),
            example: ["account": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "position": 42]),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchAccount]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let account = try call.requiredID("account_id")
        // If this request breaks off from here on, the service that carries deletions out finishes
        // it.
        let done = try await call.run(
            AccountChange.scheduleDeletion(account, isAtOnce: true, now: write.origin.at), as: write
        )
        let context = call.context
        let erasure = AccountErasure(
            commands: context.commands, queries: context.queries,
            destroyKey: context.destroyKey, newID: { call.newID() })
        let outcome: AccountErasure.Outcome
        do throws(LogFailure) {
            outcome = try await erasure.dispatch(account, in: write.realm, by: write.origin)
        } catch {
            throw Problem(of: error)
        }
        // The deletion was cancelled in between.
        guard case .erased(let position, _) = outcome else { throw Problem(.contended) }
        let last = Positions(epoch: done.positions.epoch, first: position, count: 1)
        return Response.json(
            .ok,
            ["account": .string(account.description), "position": .integer(position)]
        ).at(WriteReceipt(write: write, positions: last))
    }
}
