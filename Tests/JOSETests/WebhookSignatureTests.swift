import Cryptography
import JOSE
import Testing
import Values

@Suite struct `Signatures of webhooks` {
    let body = Array(#"{"test": 2432232314}"#.utf8)

    /// A vector of a server that signs so.
    @Test func `an asymmetric signature is the one of the published vector`() throws {
        let key = try #require(
            Base64.decode(
                "6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicM"
                    + "Fs6Kvg=="))
        let signer = WebhookSignature(
            secrets: [Array(repeating: 0, count: 32)],
            keys: [try WebhookKey.read(Array(key.prefix(32)))])
        let signature = try signer.sign(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: body)
        #expect(
            signature.split(separator: " ").last
                == """
                v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==
                """)
        #expect(
            WebhookSignature.text(of: try WebhookKey.read(Array(key.prefix(32))).publicKey)
                == "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=")
    }

    @Test func `a shared signature covers id, time and body`() throws {
        let secret = Random.bytes(32)
        let signer = WebhookSignature(secrets: [secret])
        let signature = try signer.sign(id: "evt_a", timestamp: 7, body: body)
        let expected = HMACKey(secret).authenticate(Array("evt_a.7.".utf8) + body)
        #expect(signature == "v1," + Base64.encode(expected))
        #expect(try signer.sign(id: "evt_b", timestamp: 7, body: body) != signature)
        #expect(try signer.sign(id: "evt_a", timestamp: 8, body: body) != signature)
        #expect(try signer.sign(id: "evt_a", timestamp: 7, body: []) != signature)
    }
}
