import Values

extension RandomHistory {
    /// What rules found, and what became of it.
    mutating func finding() -> Happening {
        guard !findings.isEmpty, chance(60) else {
            let stream = fresh()
            findings.append(stream)
            let about = [
                #""account":"\#(fresh())","#, #""source":"s\#(number(0...3))","#,
                #""about_actor":"admin:a","#, #""account":"\#(fresh())","session":"\#(fresh())","#,
                "",
            ][number(0...4)]
            return happening(
                "finding.raised", stream,
                """
                {\(about)"counts":{"failures":\(number(2...9))},"from":1800000000,"level":"medium",
                \(chance(20) ? #""places":["CH N47E008","US N40W075"],"# : "")
                "positions":[\(serial),\(serial + 1)],"rule":"brute_force","to":1800000600}
                """)
        }
        let index = number(0...(findings.count - 1))
        let stream = findings[index]
        if chance(40) {
            return happening(
                "finding.escalated", stream,
                #"{"level":"high","position":\#(serial),"rule":"brute_force"}"#)
        }
        findings.remove(at: index)
        return happening(
            "finding.closed", stream,
            chance(50)
                ? #"{"cause":"quiet","rule":"brute_force"}"#
                : #"{"cause":"administrator","reason":"Our own test","rule":"brute_force"}"#)
    }
}
