internal import HTTP
internal import Identity
internal import JSON

/// Servers of apps that ask for people, who would else all be one source to the rates. A client that is
/// believed says where each of them is.
extension RealmContext {
    static var forwardedHeader: String { "Modgud-Forwarded-For" }

    /// Nil where the request comes from where it seems to.
    func forwardedAddress(
        of request: Request, at traits: RouteTraits
    ) async throws(Problem) -> String? {
        let lines = request.headers.all(Self.forwardedHeader)
        if lines.isEmpty {
            guard traits.contains(.needsForwardedAddress), request.headers["Authorization"] != nil,
                try await isForwarder(request)
            else { return nil }
            throw Problem(.forwardedAddressRequired)
        }
        guard try await isForwarder(request) else {
            try countSource()
            throw Problem(.forwarderNotTrusted)
        }
        guard lines.count == 1, let line = lines.first, let address = IPAddress(trimmed(line))
        else {
            throw Problem(.forwardedAddressRequired)
        }
        return address.description
    }

    private func isForwarder(_ request: Request) async throws(Problem) -> Bool {
        guard let shown = try? ClientCredentials(request, body: [:]), case .basic = shown.proof
        else {
            return false
        }
        do throws(Problem) {
            return try await lookUp(shown, shown.clientID ?? "", for: request)
                .metadata.forwardsAddresses
        } catch {
            guard error.kind == .invalidClient else { throw error }
            return false
        }
    }
}
