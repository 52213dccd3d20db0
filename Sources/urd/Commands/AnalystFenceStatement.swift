/// Shows what only a superuser can take from analysts.
struct AnalystFenceStatement: Subcommand {
    static let path = ["analyst", "fences"]
    static let summary = "Print the SQL by which a superuser fences analysts in"
    static let examples = ["urd analyst fences"]
    static let details = """
        PostgreSQL lets every role take advisory locks and make large objects, and with either an analyst \
        can fill the table of locks: then nothing is written in any realm. This takes these functions \
        from `public` in Urd's database, and the right to connect to the databases `postgres` and `template1`. \
        `urd doctor` says whether it is needed. Run it once the schema is there:

        urd analyst fences | sudo -u postgres psql -d urd
        """

    func run(_ call: Invocation) async throws -> ExitCode {
        call.console.write(AnalystFences.statement)
        return .success
    }
}
