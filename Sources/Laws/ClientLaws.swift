/// Laws of clients and apps.
extension Law {
    static func ofClients() -> [Law] {
        [
            Law(
                13,
                """
                A client that is deleted or disabled has no session opened or refreshed, and \
                nothing happens to it after its deletion.
                """,
                [
                    Check("client.registered", "client.adopted") { past, event in
                        guard event.is("client.registered") else { return }
                        past.clients.begin(Client(), event.stream, at: event.second)
                    },
                    Check(
                        "client.disabled", "client.enabled", "client.deleted", "client.updated",
                        "client.secret_rotated", look: live),
                ]),
            Law(
                21,
                """
                A flagship client has a session of scope `*` only between its certification and \
                what takes it away.
                """,
                [
                    Check("client.certified", "client.certification_revoked") { past, event in
                        let isCertified = event.is("client.certified")
                        if isCertified, past.clients[event.stream]?.isDeleted == true {
                            past.broken(21, "a client is certified that is deleted")
                        }
                        past.changeClient(event) { $0.isCertified = isCertified }
                    }
                ]),
        ]
    }

    private static func live(_ past: inout Past, _ event: Event) {
        if past.clients[event.stream]?.isDeleted == true {
            past.broken(13, "\(event.type) of a client that is deleted")
        }
        past.changeClient(event) { client in
            if event.is("client.disabled") {
                client.isDisabled = true
            } else if event.is("client.enabled") {
                client.isDisabled = false
            } else if event.is("client.deleted") {
                client.isDeleted = true
            }
        }
    }
}
