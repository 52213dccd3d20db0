internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Accounts that are moved in from other systems.
enum AccountImportRoutes {
    static let table: [Route<AdminContext>] = [importAccounts]

    private static let importAccounts = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/accounts/import", id: "importAccounts",
        tag: "Accounts", summary: "Import accounts of another system.",
        detail: """
            Each account stands for itself: one that is refused holds up no other. An account that was \
            imported before stays as it is, so that a batch can be sent again. `urd import accounts` reads \
            the exports of several systems and sends them here.
            """,
        right: .realm, parameters: [.realm],
        body: Body(
            schema: .named(
                "NewImport",
                .object(
                    .required(
                        "source", .oneOf(ImportSource.allCases.map(\.rawValue)),
                        "System that the accounts come from."),
                    .optional(
                        "dry_run", .boolean, "Whether only the outcome is told, and nothing done."),
                    .required(
                        "accounts",
                        .list(
                            of: .judged(AccountRecordSchema.record),
                            1...AccountRecordSchema.mostAtOnce), "The accounts."))),
            example: ["source": "auth0", "accounts": [AccountRecordSchema.example]],
            maximumBytes: 4 * 1024 * 1024),
        answer: .ok(
            "What became of each, in their order.",
            .named(
                "Import",
                .object(
                    .required(
                        "items",
                        .list(
                            of: AccountRecordSchema.outcome, 1...AccountRecordSchema.mostAtOnce),
                        "Outcomes, in the order of the accounts."),
                    .required(
                        "takes_passphrases", .boolean,
                        "Whether people can sign in by passphrase in this realm."))),
            example: [
                "items": [
                    ["status": "imported", "account": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"]
                ], "takes_passphrases": true,
            ]),
        refusals: [.noSuchRealm, .realmDisabled]
    ) { call throws(Problem) in
        let realm = try call.realm
        let source =
            call.body["source"]?.string.flatMap { ImportSource(rawValue: $0) } ?? .csv
        try await call.knownRealm()
        let reading = AccountRecord.Reading(
            mint: try await call.mint(of: realm), providers: try await call.providers())
        let accounts = call.body["accounts"]?.array ?? []
        for (index, account) in accounts.enumerated() where account.object == nil {
            throw Problem(.invalidField, "It must be an object.", field: "accounts/\(index)")
        }
        let records = accounts.map { json in
            Result { () throws(AccountRecord.Refusal) in
                try AccountRecord(json, from: source, in: reading)
            }
        }
        let outcomes = try await call.outcomes(
            of: records.compactMap { try? $0.get().account }, isTrial: call.body["dry_run"]?.bool ?? false)
        var next = outcomes.makeIterator()
        let items = records.map { record in
            switch record {
            case .failure(let refusal): refusal.json
            case .success(let record): record.json(next.next() ?? .unchanged)
            }
        }
        let settings = try await call.configuration(Realm.self, of: Realm.stream).settings
        return .json(
            .ok,
            [
                "items": .array(items),
                "takes_passphrases": .bool(settings[SettingCatalogue.loginPassphrase]),
            ])
    }
}

extension Call<AdminContext> {
    /// All together; one by one where a passkey is another account's, which is not told whose.
    fileprivate func outcomes(
        of accounts: [ImportedAccount], isTrial: Bool
    ) async throws(Problem) -> [ImportOutcome] {
        guard !accounts.isEmpty else { return [] }
        if let outcomes = try await outcomesTogether(of: accounts, isTrial: isTrial) {
            return outcomes
        }
        var outcomes: [ImportOutcome] = []
        for account in accounts {
            outcomes +=
                try await outcomesTogether(of: [account], isTrial: isTrial)
                ?? [.refused(.passkeyTaken)]
        }
        return outcomes
    }

    private func outcomesTogether(
        of accounts: [ImportedAccount], isTrial: Bool
    ) async throws(Problem) -> [ImportOutcome]? {
        let write = write(in: try realm)
        let result = try await context.commands.attempt(
            ImportAccounts(accounts: accounts, isTrial: isTrial, now: write.origin.at),
            in: write.realm, named: .path, id: write.command, by: write.origin)
        switch result {
        case .success(let outcomes): return outcomes
        case .failure(.passkeyTaken): return nil
        }
    }
}

extension AccountRecord {
    func json(_ outcome: ImportOutcome) -> JSON {
        switch outcome {
        case .refused(let reason): return Refusal(reason).json
        case .unchanged:
            return ["status": "unchanged", "account": .string(account.account.description)]
        case .imported(let parts):
            let leftOut = leftOut + parts.map(\.rawValue)
            var members: JSONObject = [
                "status": "imported", "account": .string(account.account.description),
            ]
            if !leftOut.isEmpty { members["left_out"] = .array(leftOut.map { .string($0) }) }
            return .object(members)
        }
    }
}
