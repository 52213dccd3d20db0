import API
import Identity
import JSON

/// Imports the accounts of another system.
struct ImportAccountsCommand: Subcommand {
    static let path = ["import", "accounts"]
    static let summary = "Import the accounts of another system, with their passphrases"
    static let examples = [
        "urd import accounts users.csv --from csv --dry-run",
        "urd import accounts realm.json --from keycloak --provider google=corp --json",
    ]
    static let details = """
        Each record stands for itself: what is wrong with one is told with its line, and the others go on. An account
        that was imported before stays as it is, so that a run that was cut off is simply begun again. Hashes of
        passphrases are verified at the first sign-in and replaced by our own. People are not told by mail.

        docs/moving-in.md says how each system's export is made and what of it is taken.
        """
    static let options = [
        RealmOption.option,
        Option.value(
            "from", "system",
            "System of the export (required): "
                + ImportSource.allCases.map(\.rawValue).joined(separator: ", ")),
        Option.flag("dry-run", "Say what would become of each account, and do nothing"),
        Option.flag("verified", "Take all addresses as verified"),
        Option.flag("without-passphrases", "Leave hashes of passphrases out"),
        Option.value("audience", "audience", "Audience that roles and groups belong to"),
        Option.values(
            "client", "id", "Client of a Keycloak export whose roles belong to the audience too"),
        Option.values(
            "provider", "theirs=ours", "Short name here of a provider of the export"),
        Option.value("relying-party", "domain", "Domain of the passkeys (RP ID)"),
        Option.value(
            "hashes", "file", "Export of hashes beside the export of users, as Auth0 makes it"),
        Option.value(
            "hash-parameters", "file", "Hash parameters of a Firebase project, as its console shows"
        ),
        Option.json,
    ]
    static let operands = [Operand("file", "The export; - for the input")]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let arguments = call.arguments
        let realm = try RealmOption(call).realm
        guard let name = arguments.value("from"), let source = ImportSource(rawValue: name) else {
            throw UsageError(
                "--from must be one of "
                    + ImportSource.allCases.map(\.rawValue).joined(separator: ", "))
        }
        var choices = try choices(arguments)
        let form = ExportForm.of(source)
        choices.hashes =
            try arguments.value("hashes").map { path in
                try form.hashes(in: path)
            } ?? [:]
        let file = try RecordSource(arguments.words["file"]?.first ?? "-")
        let requests = try await AdminRequests(call.settings())
        defer { requests.close() }
        let isTrial = arguments.has("dry-run")
        let asJSON = arguments.has("json")
        let run = ImportRun(
            realm: realm, from: source, choices: choices, isTrial: isTrial, requests: requests,
            console: call.console, asJSON: asJSON)
        let report: ImportReport
        do {
            report = try await run.run(file)
        } catch let refusal as RouteRefusal {
            throw refusal.failure
        }
        if asJSON {
            call.console.writeLine(["summary": report.json])
        } else {
            for line in report.sentences(isTrial: isTrial) { call.console.write(line) }
        }
        if let fault = report.fault { throw fault }
        return report.count("refused") == 0 ? .success : .failure
    }

    private func choices(_ arguments: Arguments) throws -> ImportChoices {
        var choices = ImportChoices()
        choices.audience = arguments.value("audience")
        choices.clients = Set(arguments.values["client"] ?? [])
        choices.relyingParty = arguments.value("relying-party")
        choices.isVerified = arguments.has("verified")
        choices.leavesPassphrases = arguments.has("without-passphrases")
        for pair in arguments.values["provider"] ?? [] {
            let names = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard names.count == 2 else {
                throw UsageError("--provider must be theirs=ours, such as google-oauth2=google")
            }
            choices.providers[names[0]] = names[1]
        }
        if let path = arguments.value("hash-parameters") {
            let text: String
            do throws(SystemFailure) {
                text = try File.text(path)
            } catch {
                throw CommandFailure("\(error)")
            }
            choices.firebase = try FirebaseParameters(text)
        }
        return choices
    }
}
