import API
import HTTP
import HTTPClient
import HTTPServer

/// What a node is started with.
struct ServeOptions: Sendable {
    var listener = HTTPServer.Configuration()
    var privateListener: HTTPServer.Configuration? = HTTPServer.Configuration()
    var drain: Duration = .seconds(10)
    var readyLag = 10_000
    var checkpointDirectory: String?
    /// Takes mails; without one they wait in the queue.
    var mailCarrier: (any MailCarrier)?
    /// Mails that can be read here instead of in a mailbox.
    var inbox: Inbox?
    /// What an app's own tests may do. No setting has it: `urd dev --ephemeral` alone does.
    var testing: (@Sendable (Store) throws -> TestingContext)?
    /// Whose word on hosts and addresses is taken.
    var forwarding = Forwarding()
    /// Where clients may be called that say where they want to be.
    var destinations = Destinations.publicOnly()
    /// Where webhooks may be.
    var webhookDestinations = Destinations.publicOnly()
    /// Where calls of webhooks come from, as their receivers are told.
    var webhookSources: [String] = []
    /// Webhooks may be on this machine, without TLS.
    var allowsLoopback = false
    /// The file of those who vouch for them; the system's, if none is named.
    var authorities: String?
    /// Sends HTTP requests to the addresses that clients and realms name; nil sends none.
    var outgoing: OutgoingCalls?
    /// The file of breached passphrases, which no account may set.
    var breachedPassphrases: String?
    /// Files that say where addresses are.
    var geoDatabases: [String] = []
    /// Told at hosts that lead to no realm.
    var issuers: Places.Issuers?
}
