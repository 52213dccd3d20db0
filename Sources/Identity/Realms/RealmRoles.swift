internal import JSON

/// The roles that a realm knows, and what each permits: by audience, which is a resource or a scope
/// that stands for one. They are names to Urd: their meaning is up to the audience.
public struct RealmRoles: Sendable {
    static let mostAudiences = 100
    public static let mostRoles = 100
    static let mostPermissions = 200
    public static let longestName = 128

    private let byAudience: JSONObject

    init(_ setting: JSONObject) {
        byAudience = setting
    }

    public func has(_ role: String, at audience: String) -> Bool {
        byAudience[audience]?[role] != nil
    }

    /// What a person with these roles may do there, in order and each once.
    public func permissions(of roles: [String], at audience: String) -> [String] {
        Set(
            roles.flatMap {
                byAudience[audience]?[$0]?.array?.compactMap(\.string) ?? []
            }
        ).sorted()
    }

    static func check(_ setting: JSON) throws(FieldFault.Reason) {
        guard let audiences = setting.object else { throw .wrongType(expected: .object) }
        guard audiences.count <= mostAudiences else { throw .tooMany(limit: mostAudiences) }
        for (audience, roles) in audiences {
            guard isAudience(audience) else { throw .malformed }
            guard let roles = roles.object else { throw .wrongType(expected: .object) }
            guard roles.count <= mostRoles else { throw .tooMany(limit: mostRoles) }
            for (role, permissions) in roles {
                try checkName(role)
                guard let permissions = permissions.array else {
                    throw .wrongType(expected: .list)
                }
                guard permissions.count <= mostPermissions else {
                    throw .tooMany(limit: mostPermissions)
                }
                for permission in permissions {
                    guard let name = permission.string else { throw .wrongType(expected: .text) }
                    try checkName(name)
                }
            }
        }
    }

    private static func isAudience(_ text: String) -> Bool {
        text.utf8.count <= ResourceRule.limit
            && (TextRule.isScopeName(text) || ResourceRule.isResource(text))
    }

    private static func checkName(_ text: String) throws(FieldFault.Reason) {
        guard text.utf8.count <= longestName else { throw .tooLong(limit: longestName) }
        guard TextRule.isScopeName(text) else { throw .malformed }
    }
}

extension Settings {
    public var roles: RealmRoles { RealmRoles(self[SettingCatalogue.roles]) }
}
