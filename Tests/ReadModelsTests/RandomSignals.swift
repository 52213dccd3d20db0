import Values

extension RandomHistory {
    /// What a receiver of signals does with its streams.
    mutating func signalStream() -> Happening {
        guard !signalStreams.isEmpty, chance(70) else {
            let stream = fresh()
            signalStreams.append(stream)
            return happening(
                "ssf_stream.created", stream,
                """
                {"client":"\(fresh())","client_id":"c\(serial)","default_subjects":"ALL",
                "issuer":"https://id.example","method":"urn:ietf:rfc:8936","requested":[],
                "slot":\(number(0...9))}
                """)
        }
        let index = number(0...(signalStreams.count - 1))
        let stream = signalStreams[index]
        switch number(0...9) {
        case 0...3:
            let status = ["enabled", "paused", "disabled"][number(0...2)]
            return happening(
                "ssf_stream.status_changed", stream, #"{"by":"receiver","status":"\#(status)"}"#)
        case 4...6:
            let isPushed = chance(50)
            let endpoint = isPushed ? #""endpoint":"https://a.example","# : ""
            let method = "urn:ietf:rfc:\(isPushed ? 8935 : 8936)"
            return happening(
                "ssf_stream.changed", stream,
                #"{\#(endpoint)"method":"\#(method)","requested":[]}"#)
        case 7:
            return happening("ssf_stream.subject_added", stream, #"{"subject":"sub:\#(serial)"}"#)
        case 8: return happening("ssf_stream.replayed", stream, #"{"after":\#(serial)}"#)
        default:
            signalStreams.remove(at: index)
            return happening("ssf_stream.deleted", stream)
        }
    }
}
