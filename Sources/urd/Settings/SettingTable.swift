import API

/// Every setting of Urd. A line here is the flag, the variable, the help and the check.
extension Settings {
    static let databaseURL = Setting.database(
        "database-url", credential: "database_url",
        "PostgreSQL, as the application's role: postgresql://urd_app@host/urd")
    static let databaseOwnerURL = Setting.database(
        "database-owner-url", credential: "database_owner_url",
        "PostgreSQL, as the owner of the schema, for migrations and backups")
    static let databaseConnections = Setting.count(
        "database-connections", 1...128, default: 4,
        "Connections for queries, beside those of the committer and the projections")
    static let masterKeyFile = Setting.text(
        "master-key-file", "path", credential: .path("master_key"),
        "File with the master key that wraps all others: 32 bytes, or 64 hexadecimal digits")
    static let checkpointDirectory = Setting.text(
        "checkpoint-directory", "path",
        "Where the last signed checkpoint of each realm is kept outside the database")

    static let listenAddress = Setting.text(
        "listen-address", "address", default: "127.0.0.1",
        "Address of the public listener; not used with socket activation")
    static let listenPort = Setting.port(
        "listen-port", default: 8080, "Port of the public listener")
    static let privateAddress = Setting.text(
        "private-address", "address", default: "127.0.0.1",
        "Address of the listener for health and metrics")
    static let privatePort = Setting.port(
        "private-port", default: 8081, "Port of the listener for health and metrics")
    static let listenThreads = Setting.count(
        "listen-threads", 2...64, default: 2, "Threads that read and write connections")

    static let trustedProxies = Setting.networks(
        "trusted-proxies",
        "Proxies that are believed on where a request comes from and which host it is for; each "
            + "must set or remove Forwarded and X-Forwarded-For, -Host and -Proto itself")

    static let certificateHeader = Setting.text(
        "client-certificate-header", "name",
        "Header in which trusted proxies tell a client's certificate (RFC 9440); each must set or "
            + "remove it itself")

    static let maximumConnections = Setting.count(
        "maximum-connections", 1...1_000_000, default: 4096,
        "Connections at once; further ones are closed as they come")
    static let maximumConnectionsPerSource = Setting.count(
        "maximum-connections-per-source", 0...1_000_000, default: 0,
        "Connections at once from one address; 0 is no limit, as behind a proxy")
    static let maximumHeader = Setting.bytes(
        "maximum-header", 1024...1024 * 1024, default: "32KiB",
        "Bytes of a request's headers; beyond it 431")
    static let maximumBody = Setting.bytes(
        "maximum-body", 1024...64 * 1024 * 1024, default: "1MiB",
        "Bytes of a request's body; beyond it 413")
    static let idleTimeout = Setting.duration(
        "idle-timeout", .seconds(1) ... .seconds(3600), default: "30s",
        "How long a connection may wait for its next request")
    static let transferTimeout = Setting.duration(
        "transfer-timeout", .seconds(1) ... .seconds(3600), default: "30s",
        "How long a request may take to arrive")
    static let requestDeadline = Setting.duration(
        "request-deadline", .milliseconds(100) ... .seconds(600), default: "10s",
        "How long an answer may take; beyond it 503")
    static let commandQueue = Setting.count(
        "command-queue", 1...1_000_000, default: 4096,
        "Commands that may wait for the log; beyond it 503 with Retry-After")
    static let queryQueue = Setting.count(
        "query-queue", 1...1_000_000, default: 1024,
        "Queries that may wait for a connection; beyond it 503 with Retry-After")
    static let drain = Setting.duration(
        "drain", .zero ... .seconds(600), default: "10s",
        "How long requests may finish when Urd is asked to stop")
    static let readyLag = Setting.count(
        "ready-lag", 0...1_000_000_000, default: 10_000,
        "Events a projection may be behind before Urd asks for attention")

    static let smtpHost = Setting.text(
        "smtp-host", "host", "Mail server that takes our mails; without one they wait")
    static let smtpPort = Setting.port(
        "smtp-port", default: 587, "Port of the mail server: 587 for starttls, 465 for tls")
    static let smtpSecurity = Setting.choice(
        "smtp-security", ["starttls", "tls", "none"], default: "starttls",
        "How the way to the mail server is encrypted; no password goes over one that is not")
    static let smtpUser = Setting.text("smtp-user", "name", "User at the mail server")
    static let smtpPassword = Setting.text(
        "smtp-password", "password", secret: true, credential: .content("smtp_password"),
        "Password at the mail server")
    static let smtpAuthorities = Setting.text(
        "smtp-ca-file", "path", "Certificates in PEM that are trusted beside the system's")
    static let smtpHello = Setting.text(
        "smtp-hello-name", "host", default: "localhost", "How we introduce ourselves (EHLO)")
    static let mailSender = Setting.mailAddress(
        "mail-sender", default: "urd@localhost.localdomain",
        "Sender of the mails of realms that set no mail_from")

    static let outgoingNetworks = Setting.networks(
        "outgoing-networks",
        "Networks that are not public and may be called all the same, where a client or a realm "
            + "names an address in them")
    static let webhookAllow = Setting.networks(
        "webhook-allow", "Networks that are not public and that webhooks may be in all the same")
    static let webhookEgress = Setting.networks(
        "webhook-egress",
        "Networks that calls of webhooks come from, as receivers are told for their own lists")
    static let outgoingAuthorities = Setting.text(
        "outgoing-ca-file", "path",
        "Certificates in PEM that are trusted beside the system's, of servers that are called")
    static let breachedPassphrases = Setting.text(
        "breached-passphrases", "path",
        "Passphrases that are refused: SHA-1 digests in hexadecimal, one a line, in their order")

    static let geoDatabase = Setting.text(
        "geo-database", "path,...",
        "Databases that say where addresses are, in the format of MaxMind; the first that knows something "
            + "is believed. Replaced files are read anew")

    static let logFormat = Setting.choice(
        "log-format", ["json", "journal"], default: "json",
        "JSON lines on the error output, or the same with the journal's priorities")
    static let logLevel = Setting.choice(
        "log-level", ["debug", "info", "notice", "warning", "error"], default: "info",
        "The least that is logged")

    static let table: [any AnySetting] =
        [
            databaseURL, databaseOwnerURL, databaseConnections, masterKeyFile, checkpointDirectory,
            listenAddress, listenPort, privateAddress, privatePort, listenThreads,
            trustedProxies, certificateHeader,
            maximumConnections, maximumConnectionsPerSource, maximumHeader, maximumBody,
            idleTimeout, transferTimeout, requestDeadline, commandQueue, queryQueue, drain,
            readyLag, breachedPassphrases, geoDatabase,
            logFormat, logLevel,
        ] + mailing + outgoing

    /// What `urd dev` hears as well: with a mail server, mails go there and not to the inbox.
    static let mailing: [any AnySetting] = [
        smtpHost, smtpPort, smtpSecurity, smtpUser, smtpPassword, smtpAuthorities, smtpHello,
        mailSender,
    ]

    /// How others are called; `urd dev` hears this as well.
    static let outgoing: [any AnySetting] = [
        outgoingNetworks, outgoingAuthorities, webhookAllow, webhookEgress,
    ]

    /// What `dev.env` and the commands call by such names without being a setting of the server.
    static let otherVariables: Set<String> = [
        "URD_URL", "URD_PRIVATE_URL", "URD_ADMIN_KEY", "URD_REALM", "URD_CLIENT_ID",
        "URD_CLIENT_SECRET", "URD_DATA", "URD_PORT", "URD_INBOX_URL", "URD_NATIVE_CLIENT_ID",
        "URD_APP_URL", "URD_REALM_URL", "URD_FLAGSHIP_HOST", "URD_FLAGSHIP_URL",
        "URD_FLAGSHIP_TOKEN", "URD_FLAGSHIP_APPLE_KEY", "URD_FLAGSHIP_PLAY_SIGNING_KEY",
        "URD_FLAGSHIP_PLAY_DECRYPTION_KEY", "URD_VERIFY_URL", "URD_VERIFY_API_KEY_ID",
        "URD_VERIFY_API_SECRET_KEY", "URD_FEDERATION_URL", "URD_FEDERATION_HOST",
        "URD_FEDERATION_CLIENT_ID", "URD_FEDERATION_CLIENT_KEY", "URD_FEDERATION_SERVICE_ID",
        "URD_FEDERATION_SERVICE_KEY", "URD_FEDERATION_SERVICE_URL", "URD_FEDERATION_USER",
        "URD_FEDERATION_PASSPHRASE",
    ]
}
