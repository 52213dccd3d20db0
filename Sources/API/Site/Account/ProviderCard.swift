internal import HTML
internal import HTTP
internal import Identity
internal import Values

/// The providers whose identities sign in to the user's own account.
enum ProviderCard {
    static func html(
        _ connections: [(provider: Provider, isConnected: Bool)], _ frame: AccountFrame
    ) -> HTML {
        let say = frame.say
        return Page.card {
            HTML.element(.h2) { say("Connected accounts", "Verbundene Konten") }
            HTML.element(.p, .class("soft")) {
                say(
                    "Sign in here with an account that you have elsewhere.",
                    "Melden Sie sich hier mit einem Konto an, das Sie anderswo haben.")
            }
            HTML.element(.ul, .class("items")) {
                for connection in connections {
                    HTML.element(.li) {
                        HTML.element(.div, .class("what")) {
                            HTML.element(.strong) { connection.provider.name }
                            if connection.isConnected {
                                HTML.element(.span, .class("badge")) {
                                    say("Connected", "Verbunden")
                                }
                            }
                        }
                        frame.visit.form(
                            connection.isConnected
                                ? "/account/providers/disconnect" : "/account/providers/connect"
                        ) {
                            Parts.hidden("provider", connection.provider.slug)
                            Parts.button(
                                connection.isConnected
                                    ? say("Disconnect", "Trennen") : say("Connect", "Verbinden"),
                                look: "second short")
                        }
                    }
                }
            }
        }
    }
}

extension Call<RealmContext> {
    /// The realm's providers, and whether the account is linked to each.
    func connections(
        of account: UUID
    ) async throws(Problem) -> [(provider: Provider, isConnected: Bool)] {
        var found: [(provider: Provider, isConnected: Bool)] = []
        for provider in try await RealmLookups(context).providers() {
            let known = try await RealmLookups(context).folded(
                AccountIdentity.self,
                context.mint.accountIdentity(account, at: provider.slug))
            found.append((provider, known.identity != nil))
        }
        return found
    }
}
