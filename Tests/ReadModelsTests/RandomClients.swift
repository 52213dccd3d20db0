/// Clients that register themselves.
extension RandomHistory {
    mutating func registrationToken() -> Happening {
        if registrationTokens.isEmpty || chance(30) {
            let stream = fresh()
            registrationTokens.append(stream)
            return happening(
                "registration_token.created", stream,
                #"{"expires_at":1800000000,"label":"L\#(serial)","scope":["a"],"uses":100}"#)
        }
        let index = Int.random(in: 0..<registrationTokens.count, using: &random)
        guard chance(15) else {
            return happening(
                "registration_token.used", registrationTokens[index],
                #"{"client":"\#(fresh())","used_at":1800000000}"#)
        }
        return happening("registration_token.revoked", registrationTokens.remove(at: index))
    }
}

extension RandomHistory {
    /// Each event says all of it.
    mutating func webApp() -> Happening {
        let card =
            #""kind":"\#(chance(50) ? "app" : "konnector")","name":"App \#(serial)","slug":"w\#(serial)""#
        if webApps.isEmpty || chance(40) {
            let stream = fresh()
            webApps.append(stream)
            return happening("web_app.registered", stream, #"{\#(card),"permissions":[]}"#)
        }
        let index = Int.random(in: 0..<webApps.count, using: &random)
        if chance(20) { return happening("web_app.removed", webApps.remove(at: index)) }
        let origin = chance(50) ? #","origin":"https://o\#(serial).example:8443""# : ""
        return happening(
            "web_app.updated", webApps[index],
            #"{"flags":{"a":{"b":null}},\#(card)\#(origin),"permissions":["files"]}"#)
    }
}
