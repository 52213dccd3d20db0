import Cryptography
import Glibc
import Postgres
import Values

/// The database of an installation, and its two roles: the owner changes the schema, the application adds to the log.
struct SetupDatabase {
    static let name = "urd"
    static let owner = "urd_owner"
    static let application = "urd_app"

    /// The addresses of the database as each of the two roles.
    struct Addresses: Sendable {
        let owner: String
        let application: String
    }

    private let connection: Connection
    /// Roles with a password come to this machine's PostgreSQL by the network, where Debian's configuration takes them.
    private let networkHost: String?

    /// - Parameter administrator: the address of a role that may create roles and databases; this machine's PostgreSQL, as the
    ///   user `postgres`, by default.
    init(administrator: String?) throws {
        if let administrator {
            connection = try Connection(administrator, application: "urd setup")
            networkHost = nil
            return
        }
        guard Account.isRoot, let account = Account(named: "postgres") else {
            throw CommandFailure(
                "there is no way to this machine's PostgreSQL: it takes root, and the user 'postgres'",
                remedy: "Run it with sudo after `apt-get install postgresql`, or give "
                    + "--database-admin-url of another PostgreSQL.")
        }
        // PostgreSQL asks the kernel who is at the other end of the socket.
        guard seteuid(account.user) == 0 else { throw SystemFailure("become", account.name) }
        defer { _ = seteuid(0) }
        connection = try Connection(
            "postgresql:///postgres?host=/var/run/postgresql", application: "urd setup")
        networkHost = "127.0.0.1"
    }

    /// Makes what is missing, with new passwords for both roles.
    func make() throws -> Addresses {
        let addresses = Addresses(
            owner: try address(of: Self.owner, "createrole"),
            application: try address(of: Self.application, "nocreaterole"))
        let owners = try connection.run(
            """
            select pg_get_userbyid(datdba) = '\(Self.owner)' from pg_database
            where datname = '\(Self.name)'
            """)
        if owners.count == 0 {
            // A managed PostgreSQL asks who makes a database for a role to be a member of the role.
            _ = try? connection.run("grant \(Self.owner) to current_user")
            try connection.run(
                """
                create database \(Self.name) owner \(Self.owner) encoding 'UTF8' template template0
                """)
        } else if owners.text(0, 0) != "t" {
            throw CommandFailure(
                "there is a database '\(Self.name)' that does not belong to \(Self.owner)",
                remedy: "Rename it, or give it to that role.")
        }
        return addresses
    }

    private func address(of role: String, _ privilege: String) throws -> String {
        let password = Base64URL.encode(SecretBytes.random(24).exposedCopy())
        let verifier = try connection.verifier(ofPassword: password, of: role)
        let exists = try connection.run("select from pg_roles where rolname = '\(role)'").count == 1
        var parameters = Parameters()
        parameters.add(verifier)
        let statement = try connection.executeOnce(
            """
            select format('\(exists ? "alter" : "create") role \(role) login \(privilege) password %L',
                $1::text)
            """, parameters)
        try connection.run(statement.text(0, 0))
        return connection.address(
            user: role, password: password, insteadOfSockets: networkHost, database: Self.name)
    }

    /// Whether a log is in the database.
    static func holdsLog(_ address: String) throws(Postgres.Failure) -> Bool {
        let connection = try Connection(address, application: "urd setup")
        return try connection.run("select to_regclass('urd.event') is not null").text(0, 0) == "t"
    }
}
