internal import Identity
internal import JSON

extension SessionTerms {
    /// Who acts for the person (RFC 8693 section 4.1), the latest outermost.
    var actClaim: JSON? {
        self.exchange?.actors.reversed().reduce(nil) { inner, actor in
            var act: JSONObject = ["sub": .string(actor)]
            act["act"] = inner
            return .object(act)
        }
    }
}
