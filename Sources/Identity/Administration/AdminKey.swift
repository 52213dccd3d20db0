public import EventSourcing

/// A key of the admin API: whose it is, what it opens, and whether it still does.
public struct AdminKey: StreamState {
    public private(set) var name = ""
    public private(set) var digest: SecretDigest?
    public private(set) var scope = AdminScope.only([])
    public private(set) var isRevoked = false

    public init() {}

    public mutating func apply(_ event: AdminKeyEvent) {
        switch event {
        case .created(let name, let digest, let scope):
            self.name = name
            self.digest = digest
            self.scope = scope
        case .revoked: isRevoked = true
        }
    }
}
