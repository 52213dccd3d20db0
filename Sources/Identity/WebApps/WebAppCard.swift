internal import EventSourcing
public import JSON

public enum WebAppKind: String, CaseIterable, Sendable {
    case app
    case konnector
}

/// What a realm says of a web app or a konnector.
public struct WebAppCard: Sendable, Equatable {
    public var kind: WebAppKind
    /// The slug of the web app and its sub-domain, which never changes.
    public var slug: String
    public var name: String
    /// What stands before the name, such as the maker's.
    public var namePrefix: String?
    public var editor: String?
    /// The path of its icon, or an address.
    public var icon: String?
    /// What its tokens may: never everything.
    public var permissions: [String]
    /// Where its pages are. Nil: at its sub-domain.
    public var origin: String?
    /// Where a konnector's people say at whom it may fetch, say so again, and look after that.
    public var startURL: String?
    public var reconnectURL: String?
    public var manageURL: String?
    /// What its pages are told to do or leave.
    public var flags: JSONObject
    /// What it says of its notifications, by the names of their categories.
    public var notifications: JSONObject

    public static let mostPermissions = 50
    public static let mostFlags = 50

    /// Validates the members of a request.
    public init(_ members: JSONObject) throws(FieldFault) {
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard Self.names.contains(name) else { throw FieldFault(name, .unknown) }
            if let fault = DisclosedKey.fault(in: name, value) { throw fault }
        }
        guard let card = WebAppCard(recorded: members.filter { $0.value != .null }) else {
            throw Self.fault(in: members)
        }
        self = card
        guard HostName.isLabel(slug.utf8) else { throw FieldFault("slug", .malformed) }
        for (field, text) in [("name", name), ("name_prefix", namePrefix), ("editor", editor)] {
            if let text {
                try Self.check(field) { () throws(FieldFault.Reason) in
                    try TextRule.label(text, limit: 200)
                }
            }
        }
        if let icon {
            try Self.check("icon") { () throws(FieldFault.Reason) in
                try Self.checkIcon(icon)
            }
        }
        try checkPermissions()
        try checkAddresses()
        try checkFlags()
        try Self.check("notifications") { () throws(FieldFault.Reason) in
            try NotificationCategories.check(.object(notifications))
        }
    }

    private static let texts = [
        "kind", "slug", "name", "name_prefix", "editor", "icon", "origin", "start_url",
        "reconnect_url", "manage_url",
    ]
    public static let names = Set(texts + ["permissions", "flags", "notifications"])

    private static func check(
        _ field: String, _ rule: () throws(FieldFault.Reason) -> Void
    ) throws(FieldFault) {
        do throws(FieldFault.Reason) {
            try rule()
        } catch {
            throw FieldFault(field, error)
        }
    }

    /// Why members are none of a card.
    private static func fault(in members: JSONObject) -> FieldFault {
        for name in ["kind", "slug", "name"] where (members[name] ?? .null) == .null {
            return FieldFault(name, .missing)
        }
        for name in texts {
            if let value = members[name], value != .null, value.string == nil {
                return FieldFault(name, .wrongType(expected: .text))
            }
        }
        if let list = members["permissions"], list.array?.allSatisfy({ $0.string != nil }) != true {
            return FieldFault("permissions", .wrongType(expected: .list))
        }
        for name in ["flags", "notifications"] {
            if let value = members[name], value.object == nil {
                return FieldFault(name, .wrongType(expected: .object))
            }
        }
        return FieldFault("kind", .unsupported)
    }
}

extension WebAppCard {
    private static func checkIcon(_ text: String) throws(FieldFault.Reason) {
        guard text.utf8.count <= WebAddressRule.limit else {
            throw .tooLong(limit: WebAddressRule.limit)
        }
        guard !text.utf8.contains(0x3A) else { return try WebAddressRule.check(text) }
        // A path among the app's own files.
        guard !text.isEmpty, !text.utf8.starts(with: "//".utf8), !text.contains(".."),
            text.utf8.allSatisfy({ byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                    || (0x61...0x7A).contains(byte) || [0x2D, 0x2E, 0x2F, 0x5F].contains(byte)
            })
        else { throw .malformed }
    }

    /// A token has a bit for each, and nothing but the flagship app has everything.
    private func checkPermissions() throws(FieldFault) {
        guard permissions.count <= Self.mostPermissions else {
            throw FieldFault("permissions", .tooMany(limit: Self.mostPermissions))
        }
        for (index, permission) in permissions.enumerated() {
            guard TextRule.isScopeName(permission), permission.utf8.count <= 128 else {
                throw FieldFault("permissions", .malformed, at: index)
            }
            guard !permission.utf8.contains(0x2A) else {
                throw FieldFault("permissions", .reserved, at: index)
            }
            guard permissions.firstIndex(of: permission) == index else {
                throw FieldFault("permissions", .duplicate, at: index)
            }
        }
    }

    private func checkAddresses() throws(FieldFault) {
        if let origin {
            guard kind == .app else { throw FieldFault("origin", .conflicts(with: "kind")) }
            try Self.check("origin") { () throws(FieldFault.Reason) in
                try Self.checkOrigin(origin)
            }
        }
        let addresses = [
            ("start_url", startURL), ("reconnect_url", reconnectURL), ("manage_url", manageURL),
        ]
        for (field, text) in addresses {
            guard let text else { continue }
            guard kind == .konnector else { throw FieldFault(field, .conflicts(with: "kind")) }
            try Self.check(field) { () throws(FieldFault.Reason) in
                try WebAddressRule.check(text)
                // What is sent along has its place behind it.
                let names = text.utf8.drop { $0 != 0x3F }
                let taken = ["state=", "redirect_uri=", "connection_id="]
                guard
                    !taken.contains(where: { String(decoding: names, as: UTF8.self).contains($0) })
                else { throw .reserved }
            }
        }
    }

    /// As a redirect URI: https, or the person's own machine. It is spelled as browsers spell it, so
    /// that it has one spelling.
    static func checkOrigin(_ text: String) throws(FieldFault.Reason) {
        try WebAddressRule.check(text, mayHaveQuery: false)
        guard let uri = AbsoluteURI(text), let host = uri.host, uri.path.isEmpty else {
            throw .malformed
        }
        let usual: UInt16 = uri.scheme == "https" ? 443 : 80
        let port = uri.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
        let spelled = "\(uri.scheme)://\(host.lowercased())\(port)"
        guard spelled.utf8.elementsEqual(text.utf8) else { throw .malformed }
    }

    private func checkFlags() throws(FieldFault) {
        guard flags.count <= Self.mostFlags else {
            throw FieldFault("flags", .tooMany(limit: Self.mostFlags))
        }
        guard JSON.object(flags).canonical().count <= 8_192 else {
            throw FieldFault("flags", .tooLong(limit: 8_192))
        }
        for name in flags.keys {
            guard TextRule.isScopeName(name), name.utf8.count <= 100 else {
                throw FieldFault("flags", .malformed)
            }
        }
    }
}

extension WebAppCard {
    /// The host and port of its origin, if it has one.
    public var originHost: String? {
        origin.flatMap { text in
            text.utf8.split(separator: 0x2F).last.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    public var fields: JSONObject {
        var fields: JSONObject = [
            "kind": .string(kind.rawValue), "slug": .string(slug), "name": .string(name),
            "permissions": .texts(permissions),
        ]
        fields["name_prefix"] = namePrefix.map { .string($0) }
        fields["editor"] = editor.map { .string($0) }
        fields["icon"] = icon.map { .string($0) }
        fields["origin"] = origin.map { .string($0) }
        fields["start_url"] = startURL.map { .string($0) }
        fields["reconnect_url"] = reconnectURL.map { .string($0) }
        fields["manage_url"] = manageURL.map { .string($0) }
        if !flags.isEmpty { fields["flags"] = .object(flags) }
        if !notifications.isEmpty { fields["notifications"] = .object(notifications) }
        return fields
    }

    /// Reads what the log or a read model holds.
    public init?(recorded fields: JSONObject) {
        guard let kind: WebAppKind = fields.choice("kind"), let slug = fields["slug"]?.string,
            let name = fields["name"]?.string
        else { return nil }
        for name in Self.texts {
            if let value = fields[name], value.string == nil { return nil }
        }
        self.kind = kind
        self.slug = slug
        self.name = name
        namePrefix = fields["name_prefix"]?.string
        editor = fields["editor"]?.string
        icon = fields["icon"]?.string
        guard
            let permissions = fields["permissions"].map({ _ in fields.texts("permissions") })
                ?? []
        else { return nil }
        self.permissions = permissions
        origin = fields["origin"]?.string
        startURL = fields["start_url"]?.string
        reconnectURL = fields["reconnect_url"]?.string
        manageURL = fields["manage_url"]?.string
        guard let flags = fields["flags"].map({ $0.object }) ?? [:],
            let notifications = fields["notifications"].map({ $0.object }) ?? [:]
        else { return nil }
        self.flags = flags
        self.notifications = notifications
    }
}

extension WebAppCard {
    static let eventFields: [EventField] = [
        .choice("kind", WebAppKind.self, "Whether it is an app or a konnector."),
        .text("slug", "Short name, and its sub-domain."),
        .text("name", "Name shown to users."),
        .text("name_prefix", "What stands before the name, such as the maker's.").optional,
        .text("editor", "Maker of the web app.").optional,
        .text("icon", "Path or address of its icon.").optional,
        .texts("permissions", "What its tokens may do."),
        .text("origin", "Origin of its pages, if not its sub-domain.").optional,
        .text("start_url", "Page at which people connect a konnector.").optional,
        .text("reconnect_url", "Page at which people connect a konnector again.").optional,
        .text("manage_url", "Page at which people look after a connection.").optional,
        .object("flags", "Flags that its pages are given.").optional,
        .object("notifications", "Its notification categories by their names.").optional,
    ]
}
