public import Foundation

/// The tokens of a sign-in.
public struct Tokens: Sendable, Equatable, Codable {
    public let access: String
    /// Only with `offline_access`.
    public let refresh: String?
    /// Only with `openid`.
    public let identity: String?
    public let expires: Date
    public let scope: [String]

    init(_ answer: Data, at asked: Date) throws {
        struct Answer: Decodable {
            let access: String
            let refresh: String?
            let identity: String?
            let lifetime: Double
            let scope: String?

            enum CodingKeys: String, CodingKey {
                case access = "access_token"
                case refresh = "refresh_token"
                case identity = "id_token"
                case lifetime = "expires_in"
                case scope
            }
        }
        let answer: Answer = try decoded(answer)
        access = answer.access
        refresh = answer.refresh
        identity = answer.identity
        expires = asked.addingTimeInterval(answer.lifetime)
        scope = (answer.scope ?? "").split(separator: " ").map(String.init)
    }
}

/// Keeps the tokens between two runs of the app, where no other app can read them.
public protocol TokenStore: Sendable {
    func kept() async throws -> Tokens?
    /// Stores the tokens; nil deletes them.
    func keep(_ tokens: Tokens?) async throws
}

/// Until the process ends.
public actor TokensInMemory: TokenStore {
    private var tokens: Tokens?

    public init() {}

    public func kept() -> Tokens? { tokens }
    public func keep(_ tokens: Tokens?) { self.tokens = tokens }
}

public struct UserInfo: Sendable, Equatable, Decodable {
    public let sub: String
    public let email: String?
    public let isEmailVerified: Bool?
    public let name: String?
    public let givenName: String?
    public let familyName: String?

    private enum CodingKeys: String, CodingKey {
        case sub, email, name
        case isEmailVerified = "email_verified"
        case givenName = "given_name"
        case familyName = "family_name"
    }
}

/// What a realm may ask of a joining person.
public struct NewPerson: Sendable {
    public var firstName: String?
    public var lastName: String?
    public var inviteCode: String?

    public init(firstName: String? = nil, lastName: String? = nil, inviteCode: String? = nil) {
        self.firstName = firstName
        self.lastName = lastName
        self.inviteCode = inviteCode
    }

    func members(email: String) -> [String: String] {
        var members = ["Email": email]
        members["FirstName"] = firstName
        members["LastName"] = lastName
        members["InviteCode"] = inviteCode
        return members
    }
}
