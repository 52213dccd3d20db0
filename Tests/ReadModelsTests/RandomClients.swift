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
