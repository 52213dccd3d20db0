public import EventSourcing

/// A key of the admin API: whose it is, what it opens, what it may do there, and whether it still does.
public struct AdminKey: StreamState {
    public private(set) var name = ""
    public private(set) var digest: SecretDigest?
    public private(set) var scope = AdminScope.only([])
    /// None until the key is read.
    public private(set) var permissions = AdminPermissions.only([])
    public private(set) var isRevoked = false

    public init() {}

    public mutating func apply(_ event: AdminKeyEvent) {
        switch event {
        case .created(let name, let digest, let scope, let permissions):
            self.name = name
            self.digest = digest
            self.scope = scope
            self.permissions = permissions
        case .revoked: isRevoked = true
        }
    }
}
