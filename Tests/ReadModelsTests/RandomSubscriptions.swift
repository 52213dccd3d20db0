import Values

/// What happens to webhooks, which their read model and the worker go by.
extension RandomHistory {
    mutating func subscription() -> Happening {
        guard !subscriptions.isEmpty, chance(75) else {
            let stream = fresh()
            subscriptions.append(stream)
            return happening("subscription.created", stream, terms(#""kind":"webhook","#))
        }
        let index = number(0...(subscriptions.count - 1))
        let stream = subscriptions[index]
        switch number(0...11) {
        case 0, 1: return happening("subscription.changed", stream, terms())
        case 2: return happening("subscription.paused", stream)
        case 3: return happening("subscription.resumed", stream, #"{"starts_after":\#(serial)}"#)
        case 4: return happening("subscription.resumed", stream)
        case 5, 6:
            let reason = ["gone", "failing", "given_up", "rewound"][number(0...3)]
            return happening(
                "subscription.disabled", stream,
                told(#""position":\#(serial),"reason":"\#(reason)""#))
        case 7:
            return happening("subscription.failing", stream, told(#""since":1800000000"#))
        case 8:
            return happening(
                "subscription.secret_rotated", stream, #"{"old_ends":1800000000}"#)
        case 9:
            return happening(
                "subscription.replayed", stream, #"{"from":1,"to":\#(serial),"types":[]}"#)
        case 10:
            return happening(
                "subscription.halted", stream, #"{"position":\#(serial),"reason":"missing"}"#)
        default:
            subscriptions.remove(at: index)
            return happening("subscription.deleted", stream)
        }
    }

    private func terms(_ more: String = "") -> String {
        """
        {\(more)"name":"CRM \(serial)","order":"stream","signature":"v1","to":"services","types":[],
        "url":"https://crm.example/\(serial)"}
        """
    }
}
