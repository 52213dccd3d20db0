internal import Cryptography
internal import Values

/// The `jti` of a signal: the same in every attempt, on every node, and for ever, so that a receiver
/// knows a signal that it has had. After a restore another event may stand at the same position; that
/// one has another command, and another name.
enum SignalName {
    static func make(stream: UUID, position: Int64, command: UUID, type: String) -> String {
        let bytes = framed(
            ["urd ssf", type, String(position)], [stream.bytes, command.bytes])
        return Base64URL.encode(Array(SHA256.hash(bytes).prefix(16)))
    }
}
