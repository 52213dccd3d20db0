import API
import JSON
import Testing

@testable import urd

@Suite struct `The operations of the admin API` {
    /// What has a command of its own, or makes no sense on a terminal.
    private let elsewhere: Set<String> = [
        "getOpenAPI", "getWelcome", "getProblemKind", "getEvent", "getCheckpoint",
        "getInclusionProof", "getTile", "getAsyncAPI", "getEventEnvelopeSchema", "getEventSchema",
        "followEvents", "createCaseFile", "getCaseFile", "downloadCaseFile", "cancelCaseFile",
        "exportEvents", "replayEvents", "createWhatIf", "getWhatIf", "getWhatIfResult",
        "cancelWhatIf", "createAsOfBuild", "listAsOfBuilds", "getAsOfBuild",
        "cancelAsOfBuild", "listAccountsAsOf", "listSessionsAsOf", "listClientsAsOf",
        "listCredentialsAsOf", "listPasskeysAsOf", "planConfiguration", "applyConfiguration",
        "compareConfiguration", "exportConfiguration", "getConfigurationSchema",
        "importAccounts",
    ]

    @Test func `every operation of the admin API is a command`() {
        for operation in API.operations {
            let isCommand = operation.words != nil
            #expect(isCommand != elsewhere.contains(operation.id), "\(operation.id)")
        }
    }

    @Test func `a list that is behind the log says so below its rows`() {
        let behind: JSON = ["items": [], "position": 31, "head": 40, "more": false]
        #expect(
            behind.lag == "As of position 31 of 40: what happened since is not in it yet")
        #expect(behind.nextPage == nil)
        let level: JSON = ["items": [], "position": 40, "head": 40, "more": false]
        #expect(level.lag == nil)
        #expect((["items": [], "next": "x", "more": true] as JSON).nextPage == "x")
    }

    @Test func `every operation of the admin API has words of its own`() {
        let words = RouteCommands.all.map(\.form.name)
        #expect(Set(words).count == words.count)
        #expect(words.count > elsewhere.count)
    }

    @Test func `every listing operation names its columns in the schema's order`() throws {
        for operation in API.operations
        where operation.words != nil && operation.inputs.contains(where: { $0.name == "after" }) {
            #expect(!operation.columns.isEmpty, "\(operation.id) has no columns")
        }
        let logins = try #require(API.operations.first { $0.id == "listLoginHistoryOfAccount" })
        #expect(
            logins.columns == [
                "position", "at", "account", "app", "client", "method", "outcome", "reason",
                "session", "source", "device", "country", "asn", "area", "channel", "ended_at",
                "end_reason", "address", "user_agent", "city", "coordinates",
            ])
    }

    private func asked(_ line: String) async -> (code: ExitCode, error: String) {
        let notes = Notes()
        let program = Program(
            name: "urd", version: "1.2.3", commands: RouteCommands.all,
            environment: Environment(["URD_REALM": "acme"]), console: notes.console())
        let code = await program.run(line.split(separator: " ").map(String.init))
        return (code, notes.error)
    }

    @Test(arguments: [
        ("--primary-domain null", "--primary-domain null: --unset primary_domain unsets it"),
        ("--registration null", "--registration null: --unset registration unsets it"),
        ("--otp-lifetime null", "--otp-lifetime null: --unset otp_lifetime unsets it"),
        ("--native-grants null", "--native-grants null: --unset native_grants unsets it"),
        ("--native-apps null", "--native-apps null: --unset native_apps unsets it"),
        (
            "--otp-lifetime 90 --unset otp-lifetime",
            "--unset otp_lifetime: a value is given for it as well"
        ),
        ("--unset display_name", "--unset: there is no 'display_name'"),
    ])
    func `every operation of the admin API unsets a setting by its flag, not by a text`(
        line: String, error: String
    ) async {
        let result = await asked("realm set \(line)")
        #expect(result.code == .usage)
        #expect(result.error.contains(error), "\(result.error)")
    }

    @Test(arguments: [
        ("history list --json --csv", "--json and --csv: the answer has one form"),
        ("history list --limit=-1", "--limit must be a whole number from 1 to 200, not '-1'"),
        ("history list --limit 201", "--limit must be a whole number from 1 to 200, not '201'"),
        (
            "client register --redirect-uris https://a.example/,https://b.example/",
            "--redirect-uris 'https://a.example/,https://b.example/' would be one value: "
                + "give --redirect-uris again for each one"
        ),
        (
            "client register --grant-types authorization_code,refresh_token",
            "give --grant-types again for each one"
        ),
        (
            "client change web --scope openid,email",
            "--scope 'openid,email' would be one scope: write spaces between them"
        ),
        (
            "admin key create --name siem --may events.read,audit.raed",
            "--may: there is no 'audit.raed'; did you mean audit.read?"
        ),
        (
            "admin key create --name siem --may=",
            "--may: there is no ''; it is one of events.read, events.open"
        ),
        ("history list --open=yes", "--open must be true or false, not 'yes'"),
        (
            "client register --client-name Web --application-type nativ",
            "--application-type: there is no 'nativ'; did you mean native?"
        ),
        (
            "client register --client-name Web --application-type x",
            "--application-type: there is no 'x'; it is one of web, native"
        ),
    ])
    func `every operation of the admin API reports wrong arguments before a request`(
        line: String, error: String
    ) async {
        let result = await asked(line)
        #expect(result.code == .usage)
        #expect(result.error.contains(error), "\(result.error)")
    }

    @Test(arguments: [
        "client register --redirect-uris https://a.example/?a=1,2",
        "client register --redirect-uris https://a.example/x,y",
        "client register --contacts Doe,Jane",
    ])
    func `every operation of the admin API keeps commas within a value`(line: String) async {
        let result = await asked(line)
        #expect(result.error.contains("database-url"), "\(result.error)")
    }

    @Test(arguments: [
        ("realm set", "registration", "(off, jit_on_otp, explicit_endpoint, invite_code)"),
        ("client register", "grant-types", "urn:cocoar:passkey"),
        ("client register", "token-endpoint-auth-method", "private_key_jwt"),
        ("history list", "outcome", "Outcome of the sign-ins (signed_in, refused)"),
    ])
    func `every operation of the admin API names the values that an option takes`(
        command: String, option: String, values: String
    ) throws {
        let form = try #require(RouteCommands.all.map(\.form).first { $0.name == command })
        let found = try #require(form.options.first { $0.name == option })
        #expect(found.summary.contains(values), "\(found.summary)")
    }

    @Test func `every operation of the admin API has options that programs can name`() {
        for command in RouteCommands.all {
            let names = command.form.allOptions.map(\.name)
            #expect(Set(names).count == names.count, "\(command.form.name) has an option twice")
        }
    }
}
